#pragma once
// Variables of the environment for a part of a test.
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

namespace distrun {

struct Variable {
  std::string name;
  std::optional<std::string> value;  // nothing: it is not set
};

//   const EnvironmentScope detailed{{"TORCH_DISTRIBUTED_DEBUG", "DETAIL"}, {"RANK", std::nullopt}};
//
// Sets variables while it lives; afterwards all are as they were, those too that were not set before. Variables belong
// to the process: no other thread may read or set any at the same moment, and ranks that are threads share them.
class EnvironmentScope {
 public:
  // Throws Error{InvalidArgument} for a name that is empty or has a '=' in it; nothing has changed then.
  EnvironmentScope(std::initializer_list<Variable> variables);
  EnvironmentScope(const EnvironmentScope&) = delete;
  EnvironmentScope& operator=(const EnvironmentScope&) = delete;
  ~EnvironmentScope();

 private:
  std::vector<Variable> before_;
};

}  // namespace distrun
