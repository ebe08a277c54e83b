# distrun_add_plugin(NAME [RUNTIME] source.cpp ...): a test plugin NAME.so that exports one symbol and nothing else.
# With RUNTIME it uses devices and tensors, and is linked with libdistrun.so.
# Used by this project's own plugins and, installed, by projects that say find_package(distrun).

set(DISTRUN_PLUGIN_MAP ${CMAKE_CURRENT_LIST_DIR}/plugin.map)

function(distrun_add_plugin name)
  cmake_parse_arguments(arg "RUNTIME" "" "" ${ARGN})
  add_library(${name} MODULE ${arg_UNPARSED_ARGUMENTS})
  set_target_properties(${name} PROPERTIES
    PREFIX "" SUFFIX ".so" CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON
    LINK_DEPENDS ${DISTRUN_PLUGIN_MAP})
  if(DISTRUN_PLUGIN_DIR)
    set_target_properties(${name} PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${DISTRUN_PLUGIN_DIR})
  endif()
  target_link_libraries(${name} PRIVATE distrun::sdk)
  if(arg_RUNTIME)
    target_link_libraries(${name} PRIVATE distrun::runtime)
    target_link_options(${name} PRIVATE -Wl,-u,distrun_runtime_attach)
  endif()
  if(TARGET distrun_flags)  # in this project
    target_link_libraries(${name} PRIVATE distrun_flags)
  endif()
  # The entry lives in the static SDK: -u pulls it in, the map keeps everything else hidden.
  target_link_options(${name} PRIVATE
    -Wl,-u,distrun_plugin_entry -Wl,--version-script=${DISTRUN_PLUGIN_MAP})
  # A sanitizer's runtime may be found at load time only, in the program.
  if(NOT DISTRUN_SANITIZE AND NOT CMAKE_CXX_FLAGS MATCHES "-fsanitize")
    target_link_options(${name} PRIVATE -Wl,--no-undefined)
  endif()
endfunction()
