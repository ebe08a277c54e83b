# What `cmake --install` puts where: programs into bin, what plugins are built with into include and lib,
# the schemas of the reports into share.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/distrun)
set(pkgconfig_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

foreach(program IN ITEMS distrun distrun-rank distrun-probe distrund)
  if(TARGET ${program})
    install(TARGETS ${program} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  endif()
endforeach()

# A plugin is linked with these; the headers that it may include are named one by one.
install(TARGETS distrun_base distrun_wire distrun_sdk EXPORT distrunTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES libdistrun/short_names.hpp DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/distrun)
foreach(header IN ITEMS backends.hpp captured_output.hpp check.hpp context.hpp devices.hpp environment.hpp file_lock.hpp
                        library.hpp options.hpp parameters.hpp plugin.h shared_file.hpp tally.hpp test.hpp)
  install(FILES libdistrun/sdk/${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/distrun/sdk)
endforeach()
install(DIRECTORY libdistrun/base DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/distrun
  FILES_MATCHING PATTERN "*.hpp")

install(EXPORT distrunTargets NAMESPACE distrun:: DESTINATION ${package_dir})
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/distrunConfig.cmake.in
  ${PROJECT_BINARY_DIR}/distrunConfig.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/distrunConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES
  ${PROJECT_BINARY_DIR}/distrunConfig.cmake ${PROJECT_BINARY_DIR}/distrunConfigVersion.cmake
  ${CMAKE_CURRENT_LIST_DIR}/DistrunPlugin.cmake ${CMAKE_CURRENT_LIST_DIR}/plugin.map
  DESTINATION ${package_dir})

# The same for builds without CMake. The paths in it are relative, so the installed tree may be moved.
file(RELATIVE_PATH prefix_from_pkgconfig /${pkgconfig_dir} /)
string(REGEX REPLACE "/$" "" prefix_from_pkgconfig "${prefix_from_pkgconfig}")
configure_file(${CMAKE_CURRENT_LIST_DIR}/distrun.pc.in ${PROJECT_BINARY_DIR}/distrun.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/distrun.pc DESTINATION ${pkgconfig_dir})

install(DIRECTORY libdistrun/report/schema/ DESTINATION ${CMAKE_INSTALL_DATADIR}/distrun/schema
  FILES_MATCHING PATTERN "*.json" PATTERN "*.xsd")
