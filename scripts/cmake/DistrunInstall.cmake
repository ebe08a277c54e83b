# What `cmake --install` puts where: programs into bin, what plugins are built with into include and lib,
# the schemas of the reports, the man page and the completion of shells into share. The component `dev` is what only
# builds of plugins need, `mpi` what gives programs a world of MPI; all else is in `runtime`. DistrunPackages.cmake
# makes packages of them.
include(CMakePackageConfigHelpers)
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME runtime)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/distrun)
set(pkgconfig_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

foreach(program IN ITEMS distrun distrun-rank distrun-probe distrund)
  if(TARGET ${program})
    install(TARGETS ${program} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  endif()
endforeach()

# It needs libpmix, which most users do without.
if(TARGET distrun-pmix)
  install(TARGETS distrun-pmix RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT mpi)
endif()

# The daemon's units for `systemctl --user`. The service finds the program beside itself, and knows where it is
# installed to, which is known then.
if(TARGET distrund)
  set(distrund_service ${PROJECT_BINARY_DIR}/distrund.service)
  install(CODE "set(DISTRUN_PROGRAMS \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_BINDIR}\")
    set(CMAKE_INSTALL_BINDIR \"${CMAKE_INSTALL_BINDIR}\")
    configure_file(\"${PROJECT_SOURCE_DIR}/apps/distrund/distrund.service.in\" \"${distrund_service}\" @ONLY)")
  install(FILES ${distrund_service} ${PROJECT_SOURCE_DIR}/apps/distrund/distrund.socket
    DESTINATION lib/systemd/user)
endif()

# A plugin is linked with these, one with the runtime with libdistrun.so too; rooms say which headers it may include.
install(TARGETS distrun_base distrun_wire distrun_sdk EXPORT distrunTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT dev)
install(TARGETS distrun_runtime EXPORT distrunTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
get_property(headers GLOBAL PROPERTY DISTRUN_HEADERS)
set(below_libdistrun "")
foreach(header IN LISTS headers)
  cmake_path(RELATIVE_PATH header BASE_DIRECTORY ${PROJECT_SOURCE_DIR}/libdistrun OUTPUT_VARIABLE below)
  cmake_path(GET below PARENT_PATH folder)
  install(FILES ${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/distrun/${folder} COMPONENT dev)
  string(APPEND below_libdistrun "${below}\n")
endforeach()
file(WRITE ${PROJECT_BINARY_DIR}/installed_headers.txt "${below_libdistrun}")  # scripts/package-headers reads it
install(TARGETS distrun_dw LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/distrun)
if(TARGET distrun_cuda)
  install(FILES ${PROJECT_BINARY_DIR}/lib/distrun/distrun_cuda.so DESTINATION ${CMAKE_INSTALL_LIBDIR}/distrun)
endif()
get_property(modules GLOBAL PROPERTY DISTRUN_BACKEND_MODULES)
foreach(module IN LISTS modules)
  install(TARGETS ${module} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/distrun)
endforeach()

install(EXPORT distrunTargets NAMESPACE distrun:: DESTINATION ${package_dir} COMPONENT dev)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/distrunConfig.cmake.in
  ${PROJECT_BINARY_DIR}/distrunConfig.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/distrunConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES
  ${PROJECT_BINARY_DIR}/distrunConfig.cmake ${PROJECT_BINARY_DIR}/distrunConfigVersion.cmake
  ${CMAKE_CURRENT_LIST_DIR}/DistrunPlugin.cmake ${CMAKE_CURRENT_LIST_DIR}/DistrunAddTests.cmake
  ${CMAKE_CURRENT_LIST_DIR}/plugin.map
  DESTINATION ${package_dir} COMPONENT dev)

# A build tree is a package too, for who says distrun_DIR=BUILD.
export(EXPORT distrunTargets NAMESPACE distrun:: FILE ${PROJECT_BINARY_DIR}/distrunTargets.cmake)
foreach(file IN ITEMS DistrunPlugin.cmake DistrunAddTests.cmake plugin.map)
  configure_file(${CMAKE_CURRENT_LIST_DIR}/${file} ${PROJECT_BINARY_DIR}/${file} COPYONLY)
endforeach()

# The same for builds without CMake: distrun.pc and distrun-runtime.pc. The paths in the installed ones are relative, so
# the installed tree may be moved.
file(RELATIVE_PATH prefix_from_pkgconfig /${pkgconfig_dir} /)
string(REGEX REPLACE "/$" "" prefix_from_pkgconfig "${prefix_from_pkgconfig}")
set(pc_prefix \${pcfiledir}/${prefix_from_pkgconfig})
set(pc_libdir \${prefix}/${CMAKE_INSTALL_LIBDIR})
set(pc_includedir \${prefix}/${CMAKE_INSTALL_INCLUDEDIR})
set(pc_map \${libdir}/cmake/distrun/plugin.map)
set(pc_libs "-L\${libdir} -ldistrun_sdk -ldistrun_wire -ldistrun_base")
foreach(name IN ITEMS distrun distrun-runtime)
  configure_file(${CMAKE_CURRENT_LIST_DIR}/${name}.pc.in ${PROJECT_BINARY_DIR}/installed/${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/installed/${name}.pc DESTINATION ${pkgconfig_dir} COMPONENT dev)
endforeach()
# And those of the build tree, whose libraries lie where they are built.
set(pc_prefix ${PROJECT_BINARY_DIR})
set(pc_libdir \${prefix}/lib)
set(pc_includedir \${prefix}/include)
set(pc_map \${prefix}/plugin.map)
set(pc_libs "$<TARGET_FILE:distrun_sdk> $<TARGET_FILE:distrun_wire> $<TARGET_FILE:distrun_base>")
foreach(name IN ITEMS distrun distrun-runtime)
  file(READ ${CMAKE_CURRENT_LIST_DIR}/${name}.pc.in text)
  string(CONFIGURE "${text}" text @ONLY)
  file(GENERATE OUTPUT ${PROJECT_BINARY_DIR}/${name}.pc CONTENT "${text}")
endforeach()

install(DIRECTORY libdistrun/runner/report/schema/ DESTINATION ${CMAKE_INSTALL_DATADIR}/distrun/schema
  FILES_MATCHING PATTERN "*.json" PATTERN "*.xsd")

set(manual ${PROJECT_BINARY_DIR}/apps/distrun)
install(FILES ${manual}/distrun.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${manual}/distrun.bash RENAME distrun
  DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES ${manual}/distrun.zsh RENAME _distrun DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(FILES ${manual}/distrun.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)

# The pages, with what they link to: --help and the man page name them.
file(GLOB_RECURSE pages RELATIVE ${PROJECT_SOURCE_DIR} CONFIGURE_DEPENDS
  agents/README.md apps/README.md examples/README.md examples/*.cpp libdistrun/README.md)
foreach(page IN LISTS pages ITEMS README.md ARCHITECTURE.md CONTRIBUTING.md LICENSE)
  cmake_path(GET page PARENT_PATH folder)
  install(FILES ${page} DESTINATION ${CMAKE_INSTALL_DOCDIR}/${folder})
endforeach()
