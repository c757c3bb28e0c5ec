# Run by `cmake --install`: units name the programs where this installation puts them, whatever --prefix was given.
set(SWITCHYARD_SBIN "${CMAKE_INSTALL_PREFIX}/${SWITCHYARD_SBINDIR}")
foreach(unit switchyardd.service switchyard-agent.service)
  configure_file("${SWITCHYARD_SOURCE}/packaging/systemd/${unit}.in" "${SWITCHYARD_BINARY}/installed/${unit}" @ONLY)
  file(INSTALL DESTINATION "${CMAKE_INSTALL_PREFIX}/lib/systemd/system" TYPE FILE FILES "${SWITCHYARD_BINARY}/installed/${unit}")
endforeach()
