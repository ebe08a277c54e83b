#include <distrun/plugin/sdk/environment.hpp>

#include <cstdlib>

#include <distrun/plugin/sdk/detail/runtime.h>
#include <distrun/common/base/error.hpp>
#include <distrun/plugin/sdk/declare.hpp>

namespace distrun {
namespace {

void apply(const Variable& variable) {
  if (variable.value) {
    ::setenv(variable.name.c_str(), variable.value->c_str(), 1);
  } else {
    ::unsetenv(variable.name.c_str());
  }
}

Variable current(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return {name, value != nullptr ? std::optional<std::string>(value) : std::nullopt};
}

// Sets the runtime's debug level from the environment while it lives.
class DebugLevelScope {
 public:
  explicit DebugLevelScope(const std::string& level) {
    if (distrun_runtime_read_debug_level == nullptr) return;
    if (distrun_runtime_read_debug_level(&before_) == DISTRUN_OK) return;
    throw Error(ErrorKind::InvalidArgument, "ValueError",
                "the debug level is \"" + level + "\": expected OFF, INFO or DETAIL");
  }
  ~DebugLevelScope() {
    if (distrun_runtime_restore_debug_level != nullptr) distrun_runtime_restore_debug_level(before_);
  }
  DebugLevelScope(const DebugLevelScope&) = delete;
  DebugLevelScope& operator=(const DebugLevelScope&) = delete;

 private:
  std::int32_t before_ = -1;
};

}  // namespace

EnvironmentScope::EnvironmentScope(std::initializer_list<Variable> variables) {
  for (const Variable& variable : variables) {
    if (variable.name.empty() || variable.name.find('=') != std::string::npos) {
      throw Error(ErrorKind::InvalidArgument, "'" + variable.name + "' cannot be the name of a variable");
    }
  }
  for (const Variable& variable : variables) {
    before_.push_back(current(variable.name));
    apply(variable);
  }
}

EnvironmentScope::~EnvironmentScope() {
  for (; !before_.empty(); before_.pop_back()) apply(before_.back());  // the last first: a name may occur twice
}

void with_nccl_blocking_wait(const std::function<void()>& body) {
  const EnvironmentScope blocking{{"TORCH_NCCL_ASYNC_ERROR_HANDLING", std::nullopt}, {"TORCH_NCCL_BLOCKING_WAIT", "1"}};
  body();
}

void with_dist_debug_levels(Rank& rank, const std::vector<std::string>& levels, const std::function<void()>& body) {
  run_subtests(rank, Product({axis("level", levels)}), [&](const Parameters& element) {
    const EnvironmentScope detailed{{"TORCH_DISTRIBUTED_DEBUG", element.text("level")}};
    const DebugLevelScope read(element.text("level"));
    body();
  });
}

}  // namespace distrun
