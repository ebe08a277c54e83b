#include <catch2/catch.hpp>

#include <unistd.h>

#include "mappings.hpp"
#include "support/scratch.hpp"

using namespace distrun;
using namespace distrun::probe;

namespace {

constexpr const char* kMaps =
    "55d0c0000000-55d0c0001000 r--p 00000000 fe:01 42                         /bin/prog with spaces\n"
    "55d0c0001000-55d0c0002000 r-xp 00001000 fe:01 42                         /bin/prog with spaces\n"
    "7f0000000000-7f0000800000 rw-p 00000000 00:00 0 \n"
    "ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0                  [vsyscall]\n";

}  // namespace

TEST_CASE("an address is found in the mapping that holds it, and in no other") {
  const Mappings mappings = Mappings::parse(kMaps);
  REQUIRE(mappings.find(0x7f0000000000) != nullptr);
  CHECK(mappings.find(0x7f0000000000)->end == 0x7f0000800000);
  CHECK(mappings.find(0x7f00007fffff) != nullptr);
  CHECK(mappings.find(0x7f0000800000) == nullptr);
  CHECK(mappings.find(0) == nullptr);
  CHECK(mappings.find(~0ULL) == nullptr);
}

TEST_CASE("only executable mappings hold code") {
  const Mappings mappings = Mappings::parse(kMaps);
  CHECK(mappings.is_code(0x55d0c0001010));
  CHECK_FALSE(mappings.is_code(0x55d0c0000010));
  CHECK_FALSE(mappings.is_code(0x7f0000000010));
  CHECK_FALSE(mappings.is_code(0));
}

TEST_CASE("processes with the same code have equal signatures, with any data") {
  const std::string other_data = "7f1000000000-7f1000800000 rw-p 00000000 00:00 0 \n";
  CHECK(Mappings::parse(kMaps).code_signature() == Mappings::parse(other_data + kMaps).code_signature());
  const std::string other_code = "7f1000000000-7f1000800000 r-xp 00000000 fe:01 43   /lib/x.so\n";
  CHECK(Mappings::parse(kMaps).code_signature() != Mappings::parse(other_code + kMaps).code_signature());
}

TEST_CASE("invalid lines of a map are skipped") {
  CHECK(Mappings::parse("").empty());
  CHECK(Mappings::parse("\n\nhello\n12-\n-12 r\nzz-zz r-xp").empty());
  CHECK(Mappings::of(0).empty());
}

TEST_CASE("the largest file with code is found, and what is no file has no size") {
  CHECK(Mappings::parse(kMaps).largest_code_file() == 0);
  CHECK(Mappings::parse("7f1000000000-7f1000800000 r-xp 00000000 fe:01 43   /proc\n").largest_code_file() == 0);
  const testing::Scratch scratch;
  testing::write_file(scratch.path() + "/a code.so", std::string(12'345, 'x'));
  const std::string line = "7f1000000000-7f1000800000 r-xp 00000000 fe:01 43   " + scratch.path() + "/a code.so\n";
  CHECK(Mappings::parse(kMaps + line).largest_code_file() == 12'345);
  CHECK(Mappings::of(::getpid()).largest_code_file() > 0);
}

TEST_CASE("the mappings of this process contain its code and its stack") {
  const Mappings mappings = Mappings::of(::getpid());
  int on_stack = 0;
  CHECK(mappings.is_code(reinterpret_cast<std::uint64_t>(&::getpid)));
  CHECK(mappings.find(reinterpret_cast<std::uint64_t>(&on_stack)) != nullptr);
}
