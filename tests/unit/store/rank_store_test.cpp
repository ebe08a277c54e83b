#include <catch2/catch.hpp>

#include <cstdlib>

#include <distrun/runtime/store/rank_store.hpp>

#include "support/error_of.hpp"

namespace distrun::stores {
namespace {

TEST_CASE("who is no rank of a test is told how to get a store") {
  ::unsetenv("DISTRUN_STORE");
  const Error error = testing::error_of([] { rank_store(); });
  CHECK(error.kind() == ErrorKind::Unimplemented);
  CHECK_THAT(error.text(), Catch::Contains("$DISTRUN_STORE is not set") && Catch::Contains("rendezvous()"));
}

}  // namespace
}  // namespace distrun::stores
