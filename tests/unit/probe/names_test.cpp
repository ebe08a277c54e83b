#include <catch2/catch.hpp>

#include "names.hpp"

using namespace distrun::probe;

TEST_CASE("mangled names become readable ones") {
  CHECK(readable_name("_ZN7distrun4base5ErrorD1Ev") == "distrun::base::Error::~Error()");
  CHECK(readable_name("_ZN1a1fENSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE") == "a::f(std::string)");
  CHECK(readable_name("pthread_mutex_lock") == "pthread_mutex_lock");
  CHECK(readable_name("pthread_mutex_lock@@GLIBC_2.2.5") == "pthread_mutex_lock");
  CHECK(readable_name("_Z") == "_Z");
  CHECK(readable_name("") == "");
}

TEST_CASE("a very long name is cut") {
  const std::string name = readable_text(std::string(100'000, 'x'));
  CHECK(name.size() < 500);
  CHECK(name.ends_with("..."));
}

TEST_CASE("libc and similar libraries are recognized by their files") {
  CHECK(is_runtime_library("/usr/lib/x86_64-linux-gnu/libc.so.6"));
  CHECK(is_runtime_library("/lib64/ld-linux-x86-64.so.2"));
  CHECK(is_runtime_library("/usr/lib/libstdc++.so.6.0.30"));
  CHECK(is_runtime_library("[vdso]"));
  CHECK_FALSE(is_runtime_library("/usr/lib/libcurl.so.4"));
  CHECK_FALSE(is_runtime_library("/opt/libc.so.6/plugin.so"));
  CHECK_FALSE(is_runtime_library(""));
}
