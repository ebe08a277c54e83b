# distrun_add_plugin(NAME [RUNTIME] source.cpp ...): a test plugin NAME.so that exports one symbol and nothing else.
# With RUNTIME it uses devices and tensors, and is linked with libdistrun.so.
# Used by this project's own plugins, and by projects that say find_package(distrun) or add_subdirectory(distrun): so it
# takes from the caller's directory only what is the caller's.

# Stacks have lines only with debug information. What the project's flags say of it goes, be it -g1 or -g0.
function(distrun_add_debug_information name)
  string(TOUPPER "${CMAKE_BUILD_TYPE}" type)
  if(NOT "${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${type}}" MATCHES "(^| )-g")
    target_compile_options(${name} PRIVATE $<$<COMPILE_LANGUAGE:C,CXX>:-g>)
  endif()
endfunction()

function(distrun_add_plugin name)
  cmake_parse_arguments(arg "RUNTIME" "" "" ${ARGN})
  set(map ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/plugin.map)
  add_library(${name} MODULE ${arg_UNPARSED_ARGUMENTS})
  set_target_properties(${name} PROPERTIES
    PREFIX "" SUFFIX ".so" CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON
    LINK_DEPENDS ${map})
  distrun_add_debug_information(${name})
  if(DISTRUN_PLUGIN_DIR)
    set_target_properties(${name} PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${DISTRUN_PLUGIN_DIR})
  endif()
  target_link_libraries(${name} PRIVATE distrun::sdk)
  if(arg_RUNTIME)
    target_link_libraries(${name} PRIVATE distrun::runtime)
    target_link_options(${name} PRIVATE -Wl,-u,distrun_runtime_attach)
  else()
    target_compile_definitions(${name} PRIVATE DISTRUN_PLUGIN_WITHOUT_RUNTIME)  # headers of the runtime say so
  endif()
  if(TARGET distrun_flags AND PROJECT_NAME STREQUAL "distrun")
    target_link_libraries(${name} PRIVATE distrun_flags)
  endif()
  # The entry lives in the static SDK: -u pulls it in, the map keeps everything else hidden.
  target_link_options(${name} PRIVATE
    -Wl,-u,distrun_plugin_entry -Wl,--version-script=${map})
  # A sanitizer's runtime may be found at load time only, in the program.
  if(NOT DISTRUN_SANITIZE AND NOT CMAKE_CXX_FLAGS MATCHES "-fsanitize")
    target_link_options(${name} PRIVATE -Wl,--no-undefined)
  endif()
endfunction()
