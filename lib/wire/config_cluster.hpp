// The part of the configuration file that declares the cluster: "nodes" and "partitions".
// Not the daemon's settings (config.cpp) and not what enrolled nodes register.
#pragma once

#include "core/command.hpp"
#include "wire/yaml_reader.hpp"

namespace sy::wire {

// Reads both keys of the file's mapping into `out`, adding every fault found.
void read_cluster(YamlMap& file, core::Configure& out, Faults&);

}  // namespace sy::wire
