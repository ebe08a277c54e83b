# What `cmake --install` puts where: programs into bin, what plugins are built with into include and lib,
# the schemas of the reports, the man page and the completion of shells into share.
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/distrun)
set(pkgconfig_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

foreach(program IN ITEMS distrun distrun-rank distrun-probe distrund)
  if(TARGET ${program})
    install(TARGETS ${program} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  endif()
endforeach()

# The daemon's units for `systemctl --user`. The service names the program where it is installed to, which is known
# then.
if(TARGET distrund)
  set(distrund_service ${PROJECT_BINARY_DIR}/distrund.service)
  install(CODE "set(DISTRUN_PROGRAMS \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_BINDIR}\")
    configure_file(\"${PROJECT_SOURCE_DIR}/apps/distrund/distrund.service.in\" \"${distrund_service}\" @ONLY)")
  install(FILES ${distrund_service} ${PROJECT_SOURCE_DIR}/apps/distrund/distrund.socket
    DESTINATION lib/systemd/user)
endif()

# A plugin is linked with these, one with the runtime with libdistrun.so too; rooms say which headers it may include.
install(TARGETS distrun_base distrun_wire distrun_sdk EXPORT distrunTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS distrun_runtime EXPORT distrunTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
get_property(headers GLOBAL PROPERTY DISTRUN_HEADERS)
foreach(header IN LISTS headers)
  cmake_path(RELATIVE_PATH header BASE_DIRECTORY ${PROJECT_SOURCE_DIR}/libdistrun OUTPUT_VARIABLE below)
  cmake_path(GET below PARENT_PATH folder)
  install(FILES ${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/distrun/${folder})
endforeach()
install(TARGETS distrun_dw LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/distrun)
if(TARGET distrun_cuda)
  install(FILES ${PROJECT_BINARY_DIR}/lib/distrun/distrun_cuda.so DESTINATION ${CMAKE_INSTALL_LIBDIR}/distrun)
endif()
if(TARGET distrun_gloo)
  install(TARGETS distrun_gloo LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/distrun)
endif()
if(TARGET distrun_nccl)
  install(TARGETS distrun_nccl LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/distrun)
endif()

install(EXPORT distrunTargets NAMESPACE distrun:: DESTINATION ${package_dir})
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/distrunConfig.cmake.in
  ${PROJECT_BINARY_DIR}/distrunConfig.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/distrunConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES
  ${PROJECT_BINARY_DIR}/distrunConfig.cmake ${PROJECT_BINARY_DIR}/distrunConfigVersion.cmake
  ${CMAKE_CURRENT_LIST_DIR}/DistrunPlugin.cmake ${CMAKE_CURRENT_LIST_DIR}/plugin.map
  DESTINATION ${package_dir})

# A build tree is a package too, for who says distrun_DIR=BUILD.
export(EXPORT distrunTargets NAMESPACE distrun:: FILE ${PROJECT_BINARY_DIR}/distrunTargets.cmake)
foreach(file IN ITEMS DistrunPlugin.cmake plugin.map)
  configure_file(${CMAKE_CURRENT_LIST_DIR}/${file} ${PROJECT_BINARY_DIR}/${file} COPYONLY)
endforeach()

# The same for builds without CMake. The paths in it are relative, so the installed tree may be moved.
file(RELATIVE_PATH prefix_from_pkgconfig /${pkgconfig_dir} /)
string(REGEX REPLACE "/$" "" prefix_from_pkgconfig "${prefix_from_pkgconfig}")
configure_file(${CMAKE_CURRENT_LIST_DIR}/distrun.pc.in ${PROJECT_BINARY_DIR}/distrun.pc @ONLY)
configure_file(${CMAKE_CURRENT_LIST_DIR}/distrun-runtime.pc.in ${PROJECT_BINARY_DIR}/distrun-runtime.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/distrun.pc ${PROJECT_BINARY_DIR}/distrun-runtime.pc DESTINATION ${pkgconfig_dir})

install(DIRECTORY libdistrun/runner/report/schema/ DESTINATION ${CMAKE_INSTALL_DATADIR}/distrun/schema
  FILES_MATCHING PATTERN "*.json" PATTERN "*.xsd")

set(manual ${PROJECT_BINARY_DIR}/apps/distrun)
install(FILES ${manual}/distrun.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${manual}/distrun.bash RENAME distrun
  DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES ${manual}/distrun.zsh RENAME _distrun DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(FILES ${manual}/distrun.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
