#include <catch2/catch.hpp>

#include <cstdlib>

#include <distrun/runtime/store/rank_store.hpp>

#include "support/error_of.hpp"

namespace distrun::stores {
namespace {

TEST_CASE("a process that is not a rank of a test gets an error that says how to get a store") {
  ::unsetenv("DISTRUN_STORE");
  const Error error = testing::error_of([] { rank_store(); });
  CHECK(error.kind() == ErrorKind::Unimplemented);
  CHECK_THAT(error.text(), Catch::Contains("$DISTRUN_STORE is not set") && Catch::Contains("rendezvous()"));
}

}  // namespace
}  // namespace distrun::stores
