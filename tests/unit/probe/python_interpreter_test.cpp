#include <catch2/catch.hpp>

#include "python/interpreter.hpp"

using namespace distrun::probe::python;

TEST_CASE("versions are found in names of files") {
  CHECK(version_in_name("python3.11") == Version{3, 11});
  CHECK(version_in_name("libpython3.8.so.1.0") == Version{3, 8});
  CHECK(version_in_name("libpython2.7.so.1.0") == Version{2, 7});
  CHECK(version_in_name("libpython3.13t.so.1.0") == Version{3, 13, false, true});
  CHECK(version_in_name("libpython3.12d.so.1.0") == Version{3, 12, true, false});
  CHECK(version_in_name("python3") == Version{});
  CHECK(version_in_name("python") == Version{});
  CHECK(version_in_name("") == Version{});
}

TEST_CASE("a version with an unknown layout is refused with a sentence") {
  for (int minor = 8; minor <= 13; ++minor) {
    REQUIRE(find_layout({3, minor}) != nullptr);
    CHECK(find_layout({3, minor})->minor == minor);
  }
  CHECK(find_layout({3, 14}) == nullptr);
  CHECK(why_not({3, 14}) == "the lines of Python 3.14 are not read; those of 3.8 to 3.13 are");
  CHECK(why_not({2, 7}) == "the lines of Python 2.7 are not read; those of 3.8 to 3.13 are");
  CHECK(why_not({3, 13, false, true}) ==
        "the lines of a free-threaded Python 3.13 are not read; those of usual builds are");
  CHECK(why_not({3, 12, true, false}) ==
        "the lines of a debug build of Python 3.12 are not read; those of usual builds are");
  CHECK(why_not({}) == "the version of this Python is not known; Python lines are read from 3.8 to 3.13");
}

TEST_CASE("the files of an interpreter are found among the mappings, libraries first") {
  const auto files = interpreter_files(
      "55d0c0000000-55d0c0001000 r--p 00000000 fe:01 42   /opt/my env/bin/python3.10\n"
      "55d0c0001000-55d0c0002000 r-xp 00001000 fe:01 42   /opt/my env/bin/python3.10\n"
      "7f0000000000-7f0000100000 r--p 00000000 fe:01 43   /usr/lib/libpython3.10.so.1.0\n"
      "7f0000100000-7f0000300000 r-xp 00100000 fe:01 43   /usr/lib/libpython3.10.so.1.0\n"
      "7f0000400000-7f0000500000 r-xp 00000000 fe:01 44   /usr/lib/libc.so.6\n"
      "7f0000600000-7f0000700000 rw-p 00000000 00:00 0 \n"
      "torn line /usr/bin/python3\n");
  REQUIRE(files.size() == 2);
  CHECK(files[0].path == "/usr/lib/libpython3.10.so.1.0");
  CHECK(files[0].begin == 0x7f0000000000);
  CHECK(files[0].first_end == 0x7f0000100000);
  CHECK(files[0].end == 0x7f0000300000);
  CHECK(files[1].path == "/opt/my env/bin/python3.10");
}
