#include <distrun/runner/run/named_locks.hpp>

#include <unistd.h>

#include <catch2/catch.hpp>

#include <string>

using namespace distrun::runner;

namespace {

// Other test programs may run at the same time.
std::string own(const std::string& name) { return name + " of " + std::to_string(::getpid()); }

}  // namespace

TEST_CASE("a lock that one run has is free for others only after it") {
  NamedLocks here;
  NamedLocks there;
  REQUIRE(here.try_take({own("port"), own("disk")}).taken);
  CHECK_FALSE(here.try_take({own("disk")}).taken);
  CHECK(here.try_take({own("disk")}).held_elsewhere.empty());
  CHECK_FALSE(there.try_take({own("other"), own("disk")}).taken);
  CHECK(there.try_take({own("other"), own("disk")}).held_elsewhere == own("disk"));
  CHECK(there.try_take({own("other")}).taken);  // which was not kept
  here.release({own("port"), own("disk")});
  CHECK(there.try_take({own("port"), own("disk")}).taken);
}

TEST_CASE("locks are released with their object, and have names of any length") {
  NamedLocks later;
  {
    NamedLocks first;
    REQUIRE(first.try_take({own(std::string(200, 'x'))}).taken);
    CHECK(later.try_take({own(std::string(200, 'x'))}).held_elsewhere == own(std::string(200, 'x')));
    CHECK(later.try_take({}).taken);
  }
  CHECK(later.try_take({own(std::string(200, 'x'))}).taken);
}
