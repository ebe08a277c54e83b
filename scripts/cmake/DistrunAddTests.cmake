# Read by ctest: defines distrun_add_test(), which the files call that `distrun list --cmake` writes after each build of
# a plugin. The file that includes this one has set distrun_program, distrun_plugin, distrun_prefix, distrun_options and
# distrun_labels, and defines distrun_set_properties(TEST).

# distrun_add_test(ID SIZE FILTER expression [SOURCE file:line] [TIMEOUT seconds] [DEVICES n] [LABELS ...] [LOCKS ...])
function(distrun_add_test id size)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "FILTER;SOURCE;TIMEOUT;DEVICES" "LABELS;LOCKS")
  set(name "${distrun_prefix}${id}")
  add_test("${name}" "${distrun_program}" --world-size ${size} ${distrun_options} --filter "${arg_FILTER}"
    "${distrun_plugin}")
  # 4: nothing ran, or the test was skipped.
  set_tests_properties("${name}" PROPERTIES PROCESSORS ${size} SKIP_RETURN_CODE 4)
  if(arg_SOURCE)
    set_tests_properties("${name}" PROPERTIES DEF_SOURCE_LINE "${arg_SOURCE}")  # IDEs open this line
  endif()
  # distrun ends the test itself; ctest only if that fails.
  if(arg_TIMEOUT AND NOT "${distrun_options}" MATCHES "--timeout")
    math(EXPR limit "${arg_TIMEOUT} + 120")
    set_tests_properties("${name}" PROPERTIES TIMEOUT ${limit})
  endif()
  if(arg_DEVICES)
    set_tests_properties("${name}" PROPERTIES RESOURCE_GROUPS "${arg_DEVICES},gpus:1")
  endif()
  if(arg_LOCKS)
    set_tests_properties("${name}" PROPERTIES RESOURCE_LOCK "${arg_LOCKS}")
  endif()
  set(labels ${arg_LABELS} ${distrun_labels})
  if(labels)
    set_tests_properties("${name}" PROPERTIES LABELS "${labels}")
  endif()
  distrun_set_properties("${name}")
endfunction()
