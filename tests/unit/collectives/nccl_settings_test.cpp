#include <catch2/catch.hpp>

#include <cstdlib>

#include <distrun/runtime/collectives/nccl/settings.hpp>

#include "support/error_of.hpp"

namespace distrun::collectives {
namespace {

TEST_CASE("nccl waits and handles errors as the environment says, with the new names or the old ones", "[nccl]") {
  for (const char* name : {"TORCH_NCCL_BLOCKING_WAIT", "NCCL_BLOCKING_WAIT", "TORCH_NCCL_ASYNC_ERROR_HANDLING",
                           "NCCL_ASYNC_ERROR_HANDLING"}) {
    ::unsetenv(name);
  }
  CHECK(!read_nccl_settings().blocking_wait);
  CHECK(read_nccl_settings().has_watchdog);
  ::setenv("NCCL_BLOCKING_WAIT", "1", 1);
  CHECK(read_nccl_settings().blocking_wait);
  ::setenv("TORCH_NCCL_BLOCKING_WAIT", "0", 1);
  CHECK(!read_nccl_settings().blocking_wait);
  ::setenv("TORCH_NCCL_ASYNC_ERROR_HANDLING", "0", 1);
  CHECK(!read_nccl_settings().has_watchdog);
  ::setenv("TORCH_NCCL_BLOCKING_WAIT", "yes", 1);
  CHECK(testing::error_of([] { read_nccl_settings(); }).text() ==
        "Invalid value for environment variable: TORCH_NCCL_BLOCKING_WAIT must be a number, not \"yes\"");
  for (const char* name : {"TORCH_NCCL_BLOCKING_WAIT", "NCCL_BLOCKING_WAIT", "TORCH_NCCL_ASYNC_ERROR_HANDLING"}) {
    ::unsetenv(name);
  }
}

}  // namespace
}  // namespace distrun::collectives
