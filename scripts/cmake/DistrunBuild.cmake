# How everything here is compiled: language, warnings, sanitizers, and the one way to declare a library.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 11)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "" FORCE)
endif()
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
set(DISTRUN_PLUGIN_DIR ${PROJECT_BINARY_DIR}/plugins)

# The compiler cache is used where it is installed, and nothing changes where it is not. It keeps what was compiled with
# a precompiled header only if it may take it that neither macros from outside nor the time are in that header. Comments
# count: the compiler knows a header of a precompiled one again by all its bytes, and took it for another one where the
# cache had that of a header with other comments.
find_program(DISTRUN_CCACHE ccache)
if(DISTRUN_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(launcher ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros CCACHE_COMMENTS=1 ${DISTRUN_CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${launcher})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher})
endif()

# Most of what a source costs are the headers that its neighbours read, too. Targets of which that is not so say
# UNITY_BUILD OFF. What one source has in its unnamed namespace is seen by those that come after it.
if(DISTRUN_UNITY GREATER 1)
  set(CMAKE_UNITY_BUILD ON)
  set(CMAKE_UNITY_BUILD_BATCH_SIZE ${DISTRUN_UNITY})
endif()

include(GNUInstallDirs)
find_package(Threads REQUIRED)
find_package(Boost 1.81 REQUIRED)
find_package(spdlog REQUIRED)
find_package(nlohmann_json 3.11 REQUIRED)
find_package(CLI11 2.1 REQUIRED)
find_package(SQLite3 3.40 REQUIRED)
find_package(tomlplusplus 3.3 REQUIRED)  # its headers alone
find_package(Eigen3 3.3 REQUIRED NO_MODULE)
find_package(PkgConfig REQUIRED)
pkg_check_modules(libdw REQUIRED IMPORTED_TARGET libdw>=0.188)
pkg_check_modules(libsodium REQUIRED IMPORTED_TARGET libsodium>=1.0.18)

add_library(distrun_flags INTERFACE)
target_compile_options(distrun_flags INTERFACE
  $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>  # for the compiler cache
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wconversion -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual>
  # Of coroutines g++ 12 inlines one of the two and not the other.
  $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-mismatched-new-delete>
  # A shared library calls its own functions directly: a tenth of what a call of RPC costs. clang does so anyway.
  $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fno-semantic-interposition>
  $<$<BOOL:${DISTRUN_WERROR}>:-Werror>)
# For what is exported: linked with them, it would take them along.
function(distrun_use_flags target)
  target_compile_options(${target} PRIVATE $<TARGET_PROPERTY:distrun_flags,INTERFACE_COMPILE_OPTIONS>)
endfunction()

# Sources include <distrun/FLOOR/ROOM/file.hpp>; a link in the build tree gives libdistrun that name.
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/include)
file(CREATE_LINK ${PROJECT_SOURCE_DIR}/libdistrun ${PROJECT_BINARY_DIR}/include/distrun SYMBOLIC)

if(DISTRUN_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    message(FATAL_ERROR "DISTRUN_FUZZ needs clang: the fuzzers are libFuzzer's")
  endif()
  if(NOT DISTRUN_SANITIZE)
    set(DISTRUN_SANITIZE address,undefined)
  endif()
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
if(DISTRUN_FUZZ_PLANT)
  add_compile_definitions(DISTRUN_FUZZ_PLANTED_BUG)
endif()

if(DISTRUN_SANITIZE)
  set(sanitize -fsanitize=${DISTRUN_SANITIZE} -fno-omit-frame-pointer)
  if(DISTRUN_SANITIZE MATCHES "undefined")
    list(APPEND sanitize -fno-sanitize-recover=undefined)
    if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 15)
      list(APPEND sanitize -fno-sanitize=function)  # crashes on coroutines
    endif()
    if(DISTRUN_SANITIZE_NOT)
      list(APPEND sanitize -fno-sanitize=${DISTRUN_SANITIZE_NOT})
    endif()
  endif()
  add_compile_options(${sanitize})
  add_link_options(${sanitize})
endif()

# Asio, compiled once instead of in every source that uses it.
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/asio.cpp CONTENT "#include <boost/asio/impl/src.hpp>\n")
add_library(distrun_asio STATIC ${PROJECT_BINARY_DIR}/asio.cpp)
target_compile_definitions(distrun_asio PUBLIC BOOST_ASIO_SEPARATE_COMPILATION)
target_link_libraries(distrun_asio PUBLIC Boost::headers Threads::Threads)

# What nearly every source reads is compiled once, and once more for libraries whose names are seen outside. Sources say
# what they include all the same: installed headers are compiled without this, and so is what clang-tidy reads.
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/nothing.cpp CONTENT "")
foreach(visibility IN ITEMS hidden default)
  set(headers distrun_${visibility}_headers)
  add_library(${headers} OBJECT ${PROJECT_BINARY_DIR}/nothing.cpp)
  set_target_properties(${headers} PROPERTIES CXX_VISIBILITY_PRESET ${visibility})
  target_compile_features(${headers} PUBLIC cxx_std_20)
  distrun_use_flags(${headers})
  target_precompile_headers(${headers} PRIVATE
    <algorithm> <array> <atomic> <chrono> <cstdint> <functional> <map> <memory> <mutex> <optional> <set> <string>
    <string_view> <utility> <vector>)
endforeach()

# And with what stands on a loop and on records, for the rooms of the runner.
set(DISTRUN_RUNNER_HEADERS
  <boost/asio/awaitable.hpp> <boost/asio/co_spawn.hpp> <boost/asio/steady_timer.hpp>
  <distrun/runner/record/record.hpp>)
add_library(distrun_runner_headers OBJECT ${PROJECT_BINARY_DIR}/nothing.cpp)
target_include_directories(distrun_runner_headers PRIVATE ${PROJECT_BINARY_DIR}/include)
target_compile_features(distrun_runner_headers PUBLIC cxx_std_20)
distrun_use_flags(distrun_runner_headers)
target_link_libraries(distrun_runner_headers PRIVATE distrun_asio)
target_precompile_headers(distrun_runner_headers PRIVATE
  <algorithm> <functional> <map> <memory> <optional> <set> <string> <vector> ${DISTRUN_RUNNER_HEADERS})

# The same for the project's own plugins, but for its examples, which are built as users build theirs.
add_library(distrun_plugin_headers OBJECT ${PROJECT_BINARY_DIR}/nothing.cpp)
target_include_directories(distrun_plugin_headers PRIVATE ${PROJECT_BINARY_DIR}/include)
target_compile_features(distrun_plugin_headers PUBLIC cxx_std_20)
distrun_use_flags(distrun_plugin_headers)
target_precompile_headers(distrun_plugin_headers PRIVATE <distrun/test.hpp> <thread>)

# distrun_rooms(a b c): the rooms of a floor, or of a room that has some of its own.
macro(distrun_rooms)
  foreach(room IN ITEMS ${ARGN})
    add_subdirectory(${room})
  endforeach()
endmacro()

# distrun_group(NAME ROOM ...): several rooms under one name, for who links all of them.
function(distrun_group name)
  add_library(distrun_${name} INTERFACE)
  add_library(distrun::${name} ALIAS distrun_${name})
  list(TRANSFORM ARGN PREPEND distrun_)
  target_link_libraries(distrun_${name} INTERFACE ${ARGN})
endfunction()

# distrun_headers(DIRECTORY [NOT header ... | ONLY header ...]): the headers in it are for plugins: they are installed.
# Folders below are not, unless they are named as well. scripts/package-headers checks that they include no others.
function(distrun_headers directory)
  cmake_parse_arguments(arg "" "" "NOT;ONLY" ${ARGN})
  cmake_path(ABSOLUTE_PATH directory NORMALIZE)
  file(GLOB headers RELATIVE ${directory} CONFIGURE_DEPENDS ${directory}/*.h ${directory}/*.hpp
       ${directory}/*.inc)
  foreach(name IN LISTS arg_NOT arg_ONLY)
    if(NOT name IN_LIST headers)
      message(FATAL_ERROR "distrun_headers(): there is no ${directory}/${name}; remove the name, or correct it")
    endif()
  endforeach()
  if(arg_ONLY)
    set(headers ${arg_ONLY})
  endif()
  if(arg_NOT)
    list(REMOVE_ITEM headers ${arg_NOT})
  endif()
  list(TRANSFORM headers PREPEND ${directory}/)
  set_property(GLOBAL APPEND PROPERTY DISTRUN_HEADERS ${headers})
endfunction()

# distrun_library(NAME [RUNTIME|RUNNER] SOURCES a.cpp ... [DEPENDS other ...]): the target of one room of libdistrun.
# What libdistrun.so is made of says RUNTIME: its names are seen outside. What stands on loops and records says RUNNER.
function(distrun_library name)
  cmake_parse_arguments(arg "RUNTIME;RUNNER" "" "SOURCES;DEPENDS;PRIVATE" ${ARGN})
  add_library(distrun_${name} STATIC ${arg_SOURCES})
  add_library(distrun::${name} ALIAS distrun_${name})
  set_target_properties(distrun_${name} PROPERTIES EXPORT_NAME ${name})
  if(arg_RUNTIME)
    set_target_properties(distrun_${name} PROPERTIES CXX_VISIBILITY_PRESET default)
    target_precompile_headers(distrun_${name} REUSE_FROM distrun_default_headers)
  elseif(arg_RUNNER)
    target_precompile_headers(distrun_${name} REUSE_FROM distrun_runner_headers)
  else()
    target_precompile_headers(distrun_${name} REUSE_FROM distrun_hidden_headers)
  endif()
  target_include_directories(distrun_${name} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include> $<INSTALL_INTERFACE:include>)
  target_compile_features(distrun_${name} PUBLIC cxx_std_20)
  distrun_use_flags(distrun_${name})
  target_link_libraries(distrun_${name} PRIVATE ${arg_PRIVATE})
  foreach(dependency IN LISTS arg_DEPENDS)
    if(TARGET distrun_${dependency})
      target_link_libraries(distrun_${name} PUBLIC distrun_${dependency})
    else()
      target_link_libraries(distrun_${name} PUBLIC ${dependency})
    endif()
  endforeach()
endfunction()

include(DistrunPlugin)

# Static probes for bpftrace, perf and gdb (common/base/probe.hpp). It is a definition, since a compiler cache would not
# notice that the header has been installed since.
include(CheckIncludeFileCXX)
check_include_file_cxx(sys/sdt.h DISTRUN_HAS_SDT)
function(distrun_use_probes target)
  if(DISTRUN_HAS_SDT)
    target_compile_definitions(${target} PRIVATE DISTRUN_HAS_SDT)
  endif()
endfunction()
