// What ranks find in their environment, and how a test changes it for a while.
#include <distrun/sdk/environment.hpp>
#include <distrun/sdk/test.hpp>

#include <cstdlib>
#include <string>

namespace {

using distrun::EnvironmentScope;

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "(not set)" : value;
}

const char* const kBlockingWait = "TORCH_NCCL_BLOCKING_WAIT";
const char* const kAsyncErrors = "TORCH_NCCL_ASYNC_ERROR_HANDLING";
const char* const kDebugLevel = "TORCH_DISTRIBUTED_DEBUG";

// Variables are the process's: what one rank changes the others would see.
bool ranks_share_variables(const distrun::ListContext& run) { return run.isolation == "threads"; }

}  // namespace

DISTRUN_TEST(Environment, settings_of_the_run_are_variables) {
  rank.note("rows",
            "[row:env/BACKEND-INIT_METHOD-WORLD_SIZE-TEMP_DIR] [row:env/MASTER_ADDR-for-TestDistBackend]");
  DISTRUN_EXPECT(variable("WORLD_SIZE") == std::to_string(rank.world_size()));
  DISTRUN_EXPECT(variable("BACKEND") == rank.backend());
  DISTRUN_EXPECT(variable("INIT_METHOD") == rank.init_method());
  DISTRUN_EXPECT(variable("TEMP_DIR") == rank.temp_dir());
  DISTRUN_EXPECT(variable("MASTER_ADDR") == "127.0.0.1");
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
  {
    const EnvironmentScope blocking{{kAsyncErrors, std::nullopt}, {kBlockingWait, "1"}};
    DISTRUN_EXPECT(variable(kAsyncErrors) == "(not set)");
    DISTRUN_EXPECT(variable(kBlockingWait) == "1");
  }
  DISTRUN_EXPECT(variable(kAsyncErrors) == "1");
  DISTRUN_EXPECT(variable(kBlockingWait) == "(not set)");
  DISTRUN_EXPECT_THROWS(distrun::Error, "cannot be the name", EnvironmentScope{{"a=b", "1"}});
}

DISTRUN_TEST(Environment, a_body_runs_at_each_debug_level,
             .skip = {skip_if(ranks_share_variables, "ranks that are threads share variables")}) {
  rank.note("rows", "[row:env/with_dist_debug_levels-levels]");
  const std::string before = variable(kDebugLevel);
  std::string seen;
  const distrun::Product levels({distrun::axis("level", {"OFF", "INFO", "DETAIL"})});
  distrun::run_subtests(rank, levels, [&](const distrun::Parameters& element) {
    const EnvironmentScope level{{kDebugLevel, element.text("level")}};
    seen += variable(kDebugLevel) + " ";
    DISTRUN_EXPECT(variable(kDebugLevel) == element.text("level"));
  });
  DISTRUN_EXPECT(seen == "OFF INFO DETAIL ");
  DISTRUN_EXPECT(variable(kDebugLevel) == before);
}
