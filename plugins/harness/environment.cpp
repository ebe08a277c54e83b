// The environment variables of ranks, and how a test changes them temporarily.
#include <distrun/test.hpp>

#include <cstdlib>
#include <stdexcept>
#include <string>

#include "support/hosts.hpp"

namespace {

using distrun::EnvironmentScope;

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "(not set)" : value;
}

const char* const kBlockingWait = "TORCH_NCCL_BLOCKING_WAIT";
const char* const kAsyncErrors = "TORCH_NCCL_ASYNC_ERROR_HANDLING";
const char* const kDebugLevel = "TORCH_DISTRIBUTED_DEBUG";

void expect_blocking_wait_is_off() {
  DISTRUN_EXPECT(variable(kAsyncErrors) == "1");
  DISTRUN_EXPECT(variable(kBlockingWait) == "(not set)");
}

// Variables belong to the process: a change by one rank would be visible to the others.
bool ranks_share_variables(const distrun::ListContext& run) { return run.isolation == "threads"; }

}  // namespace

DISTRUN_TEST(Environment, settings_of_the_run_are_variables) {
  rank.note("rows", "[row:env/BACKEND-INIT_METHOD-WORLD_SIZE-TEMP_DIR] [row:env/MASTER_ADDR-for-TestDistBackend]");
  DISTRUN_EXPECT(variable("WORLD_SIZE") == std::to_string(rank.world_size()));
  DISTRUN_EXPECT(variable("BACKEND") == rank.backend());
  DISTRUN_EXPECT(variable("INIT_METHOD") == rank.init_method());
  DISTRUN_EXPECT(variable("TEMP_DIR") == rank.temp_dir());
  if (!distrun::suites::are_hosts_several()) DISTRUN_EXPECT(variable("MASTER_ADDR") == "127.0.0.1");
  DISTRUN_EXPECT(variable("MASTER_PORT") == "(not set)");
}

DISTRUN_TEST(Environment, errors_show_native_stacks) {
  rank.note("rows", "[row:env/TORCH_SHOW_CPP_STACKTRACES]");
  DISTRUN_EXPECT(variable("TORCH_SHOW_CPP_STACKTRACES") == "1");
}

DISTRUN_TEST(Environment, blocking_wait_is_on_for_a_body,
             .skip = {skip_if(ranks_share_variables, "ranks that are threads share variables")}) {
  rank.note("rows", "[row:env/with_nccl_blocking_wait]");
  const EnvironmentScope before{{kAsyncErrors, "1"}, {kBlockingWait, std::nullopt}};
  const auto body = [](bool fails) {
    DISTRUN_EXPECT(variable(kAsyncErrors) == "(not set)");
    DISTRUN_EXPECT(variable(kBlockingWait) == "1");
    if (fails) throw std::runtime_error("on the way out");
  };
  distrun::with_nccl_blocking_wait([&] { body(false); });
  expect_blocking_wait_is_off();
  DISTRUN_EXPECT_THROWS(std::runtime_error, "way out", distrun::with_nccl_blocking_wait([&] { body(true); }));
  expect_blocking_wait_is_off();
  DISTRUN_EXPECT_THROWS(distrun::Error, "cannot be the name", EnvironmentScope{{"a=b", "1"}});
}

DISTRUN_TEST(Environment, a_body_runs_at_each_debug_level,
             .skip = {skip_if(ranks_share_variables, "ranks that are threads share variables")}) {
  rank.note("rows", "[row:env/with_dist_debug_levels-levels]");
  const EnvironmentScope before{{kDebugLevel, std::nullopt}};
  std::string seen;
  const auto look = [&] { seen += variable(kDebugLevel) + " "; };
  distrun::with_dist_debug_levels(rank, {"OFF", "INFO", "DETAIL"}, look);
  DISTRUN_EXPECT(seen == "OFF INFO DETAIL ");
  DISTRUN_EXPECT(variable(kDebugLevel) == "(not set)");
  const EnvironmentScope another{{kDebugLevel, "INFO"}};
  distrun::with_dist_debug_levels(rank, {"OFF", "DETAIL"}, [&] {
    if (variable(kDebugLevel) == "DETAIL") distrun::skip("on the way out");
  });
  DISTRUN_EXPECT(variable(kDebugLevel) == "INFO");
}
