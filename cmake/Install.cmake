# What `cmake --install` lays out: programs, links with Slurm's names, units, example configuration, manual pages.
configure_file(packaging/systemd/switchyardd.service.in switchyardd.service @ONLY)
configure_file(packaging/systemd/switchyard-agent.service.in switchyard-agent.service @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/switchyardd.service ${PROJECT_BINARY_DIR}/switchyard-agent.service
        DESTINATION lib/systemd/system)
install(FILES packaging/systemd/switchyard.sysusers DESTINATION lib/sysusers.d RENAME switchyard.conf)
install(FILES packaging/systemd/switchyard.tmpfiles DESTINATION lib/tmpfiles.d RENAME switchyard.conf)
install(DIRECTORY config/examples/ DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/switchyard/examples)
install(FILES README.md CHANGELOG.md LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/switchyard)

install(TARGETS switchyardd RUNTIME DESTINATION ${CMAKE_INSTALL_SBINDIR})
install(TARGETS sy RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
foreach(name ${SWITCHYARD_SLURM_NAMES})
  install(FILES $<TARGET_FILE_DIR:sy>/${name} DESTINATION ${CMAKE_INSTALL_BINDIR})
endforeach()
foreach(name sy ${SWITCHYARD_SLURM_NAMES})
  install(FILES packaging/man/${name}.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
endforeach()
# The agent looks for its supervisor beside itself.
install(TARGETS switchyard-agent switchyard-supervisor RUNTIME DESTINATION ${CMAKE_INSTALL_SBINDIR})
install(FILES packaging/man/switchyardd.8 packaging/man/switchyard-agent.8 DESTINATION ${CMAKE_INSTALL_MANDIR}/man8)
install(FILES packaging/man/switchyard.yaml.5 DESTINATION ${CMAKE_INSTALL_MANDIR}/man5)
