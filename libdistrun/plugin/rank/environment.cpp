#include <distrun/plugin/rank/environment.hpp>

#include <cstdlib>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <distrun/common/trace/layout.hpp>
#include <distrun/common/wire/zygote.hpp>

namespace distrun::rank {
namespace {

void set(const char* key, const std::string& value) { ::setenv(key, value.c_str(), 1); }

// The previous values of the variables in the last order's list.
std::vector<std::pair<std::string, std::optional<std::string>>> replaced;

void restore() {
  for (; !replaced.empty(); replaced.pop_back()) {  // the last first: a name may occur twice
    const auto& [key, value] = replaced.back();
    if (value) {
      set(key.c_str(), *value);
    } else {
      ::unsetenv(key.c_str());
    }
  }
}

void replace(const wire::KeyValue& variable) {
  const char* before = std::getenv(variable.key.c_str());
  replaced.emplace_back(variable.key, before != nullptr ? std::optional<std::string>(before) : std::nullopt);
  set(variable.key.c_str(), variable.value);
}

// Sets what differs between ranks; not possible for ranks that are threads of one process.
void set_own(const wire::RunOrder& order) {
  set("DISTRUN_RANK", std::to_string(order.rank));
  set("DISTRUN_WORK_DIR", order.work_dir);
}

}  // namespace

void set_environment(const wire::RunOrder& order) {
  const char* tunables = std::getenv(wire::kTunablesVariable);
  if (tunables != nullptr && std::string(tunables) == wire::kZygoteTunables) ::unsetenv(wire::kTunablesVariable);
  restore();
  ::unsetenv(trace::kVariable);  // set if distrun itself runs in a traced rank: only that rank is traced
  if (!order.threads) set_own(order);
  set("DISTRUN_RUN_ID", order.run_id);
  set("DISTRUN_TEST_ID", order.test_id);
  set("DISTRUN_WORLD_SIZE", std::to_string(order.world_size));
  set("DISTRUN_SEED", std::to_string(order.seed));
  set("DISTRUN_AGENT", order.agent);
  set("DISTRUN_GPU_DRIVER", order.gpu_driver);
  set("DISTRUN_GPUS", std::to_string(order.gpus));
  set("WORLD_SIZE", std::to_string(order.world_size));
  set("BACKEND", order.backend);
  set("INIT_METHOD", order.init_method);
  set("TEMP_DIR", order.temp_dir);
  set("TMPDIR", order.tmp_dir);
  set("MASTER_ADDR", "127.0.0.1");
  set("TORCH_SHOW_CPP_STACKTRACES", "1");  // so that a test's libtorch reports where errors occur
  for (const wire::KeyValue& variable : order.env) replace(variable);
}

}  // namespace distrun::rank
