#include <distrun/rank/environment.hpp>

#include <cstdlib>
#include <string>

#include <distrun/wire/zygote.hpp>

namespace distrun::rank {
namespace {

void set(const char* key, const std::string& value) { ::setenv(key, value.c_str(), 1); }

}  // namespace

void set_environment(const wire::RunOrder& order) {
  const char* tunables = std::getenv(wire::kTunablesVariable);
  if (tunables != nullptr && std::string(tunables) == wire::kZygoteTunables) ::unsetenv(wire::kTunablesVariable);
  set("DISTRUN_RUN_ID", order.run_id);
  set("DISTRUN_TEST_ID", order.test_id);
  set("DISTRUN_RANK", std::to_string(order.rank));
  set("DISTRUN_WORLD_SIZE", std::to_string(order.world_size));
  set("DISTRUN_WORK_DIR", order.work_dir);
  set("DISTRUN_SEED", std::to_string(order.seed));
  set("DISTRUN_AGENT", order.agent);
  set("DISTRUN_GPU_DRIVER", order.gpu_driver);
  set("DISTRUN_GPUS", std::to_string(order.gpus));
  set("WORLD_SIZE", std::to_string(order.world_size));
  set("BACKEND", order.backend);
  set("INIT_METHOD", order.init_method);
  set("TEMP_DIR", order.temp_dir);
  set("MASTER_ADDR", "127.0.0.1");
  for (const wire::KeyValue& variable : order.env) set(variable.key.c_str(), variable.value);
}

}  // namespace distrun::rank
