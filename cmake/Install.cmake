# What `cmake --install` lays out: programs, links with Slurm's names, units, example configuration, manual pages.
