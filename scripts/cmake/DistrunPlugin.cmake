# distrun_add_plugin(NAME [RUNTIME] source.cpp ...): a test plugin NAME.so that exports one symbol and nothing else.
# With RUNTIME it uses devices and tensors, and is linked with libdistrun.so.
# distrun_discover_tests(PLUGIN ...): registers each of its tests with ctest, see below.
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

# distrun_discover_tests(PLUGIN [PREFIX text] [FILTER expression] [WORLD_SIZES n ...] [OPTIONS option ...]
#                        [PROPERTIES name value ...])
# Registers each test of the plugin with ctest, which then runs `distrun` for each: its name with PREFIX before it, its
# tags as labels, its locks as resource locks, its world size as the number of processors, its devices as the resource
# "gpus". The tests are listed after each build of the plugin. FILTER selects some of them. With several WORLD_SIZES,
# each test is registered with each of them, as "Suite.name [np=2]". OPTIONS are for `distrun run`, PROPERTIES for
# set_tests_properties(); of these, LABELS are added to those of the test.
function(distrun_discover_tests plugin)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "PREFIX;FILTER" "WORLD_SIZES;OPTIONS;PROPERTIES")
  if(arg_UNPARSED_ARGUMENTS OR arg_KEYWORDS_MISSING_VALUES)
    message(FATAL_ERROR "distrun_discover_tests(${plugin} ...) does not understand: ${arg_UNPARSED_ARGUMENTS} "
      "${arg_KEYWORDS_MISSING_VALUES}; it takes PREFIX, FILTER, WORLD_SIZES, OPTIONS and PROPERTIES")
  endif()
  if(NOT TARGET ${plugin})
    message(FATAL_ERROR "distrun_discover_tests(${plugin} ...): there is no plugin ${plugin}; call "
      "distrun_add_plugin() first")
  endif()
  set(program "${DISTRUN_PROGRAM}")
  if(TARGET distrun)  # as a folder of another project
    set(program $<TARGET_FILE:distrun>)
    add_dependencies(${plugin} distrun distrun-rank distrun-probe)
  endif()

  set(stem ${CMAKE_CURRENT_BINARY_DIR}/${plugin}-distrun)
  set(listed ${stem}-tests-$<CONFIG>.cmake)
  set(selection)
  if(DEFINED arg_WORLD_SIZES)
    string(REPLACE ";" "," sizes "${arg_WORLD_SIZES}")
    list(APPEND selection --world-size ${sizes})
  endif()
  if(arg_FILTER)
    list(APPEND selection "--filter=${arg_FILTER}")
  endif()
  add_custom_command(TARGET ${plugin} POST_BUILD
    COMMAND ${program} list --config none --cmake ${listed} ${selection} $<TARGET_FILE:${plugin}>
    BYPRODUCTS ${listed} COMMENT "Listing the tests of ${plugin}" VERBATIM)

  set(labels)
  set(properties)
  list(LENGTH arg_PROPERTIES count)
  math(EXPR odd "${count} % 2")
  if(odd)
    message(FATAL_ERROR "distrun_discover_tests(${plugin} ...): PROPERTIES needs a value for each name")
  endif()
  set(i 0)
  while(i LESS count)
    list(GET arg_PROPERTIES ${i} name)
    math(EXPR i "${i} + 1")
    list(GET arg_PROPERTIES ${i} value)
    math(EXPR i "${i} + 1")
    if(name STREQUAL "LABELS")
      list(APPEND labels ${value})
    else()
      string(APPEND properties "  set_tests_properties(\"\${test}\" PROPERTIES [==[${name}]==] [==[${value}]==])\n")
    endif()
  endwhile()
  file(GENERATE OUTPUT ${stem}-ctest-$<CONFIG>.cmake CONTENT
"set(distrun_program [==[${program}]==])
set(distrun_plugin [==[$<TARGET_FILE:${plugin}>]==])
set(distrun_prefix [==[${arg_PREFIX}]==])
set(distrun_options [==[${arg_OPTIONS}]==])
set(distrun_labels [==[${labels}]==])
function(distrun_set_properties test)
${properties}endfunction()
include([==[${CMAKE_CURRENT_FUNCTION_LIST_DIR}/DistrunAddTests.cmake]==])
if(EXISTS [==[${listed}]==])
  include([==[${listed}]==])
else()
  add_test([==[${arg_PREFIX}${plugin}_NOT_BUILT]==] ${plugin}_NOT_BUILT)
endif()
")
  # Only ctest knows which of several configurations is tested.
  file(WRITE ${stem}-ctest.cmake
"set(distrun_configuration \"\${CTEST_CONFIGURATION_TYPE}\")
if(distrun_configuration STREQUAL \"\")
  set(distrun_configuration \"${CMAKE_BUILD_TYPE}\")
endif()
include(\"${stem}-ctest-\${distrun_configuration}.cmake\" OPTIONAL)
")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${stem}-ctest.cmake)
endfunction()
