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

TEST_CASE("a lock with a limit is taken by that many, in all runs together") {
  const std::vector<LockLimit> limits{{own("database"), 3}};
  NamedLocks here(limits);
  NamedLocks there(limits);
  NamedLocks one_at_a_time;
  REQUIRE(here.try_take({own("database")}).taken);
  REQUIRE(there.try_take({own("database")}).taken);
  REQUIRE(here.try_take({own("database")}).taken);
  CHECK_FALSE(there.try_take({own("database")}).taken);
  CHECK(there.try_take({own("database")}).held_elsewhere == own("database"));
  CHECK(one_at_a_time.try_take({own("database")}).held_elsewhere == own("database"));
  here.release({own("database")});
  CHECK(there.try_take({own("database")}).taken);
  CHECK_FALSE(here.try_take({own("database")}).taken);
  here.release({own("database")});
  there.release({own("database")});
  there.release({own("database")});
  CHECK(one_at_a_time.try_take({own("database")}).taken);
}

TEST_CASE("a test that names a lock twice takes one of its places") {
  NamedLocks locks({{own("twice"), 2}});
  CHECK(locks.try_take({own("twice"), own("twice")}).taken);
  CHECK(locks.try_take({own("twice")}).taken);
  CHECK_FALSE(locks.try_take({own("twice")}).taken);
  locks.release({own("twice"), own("twice")});
  CHECK(locks.try_take({own("twice")}).taken);
  CHECK_FALSE(locks.try_take({own("twice")}).taken);
}
