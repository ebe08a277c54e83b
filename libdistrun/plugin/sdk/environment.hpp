#pragma once
// Variables of the environment for a part of a test.
#include <functional>
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

class Rank;

// Two that ported tests know. What they set is put back however the body ends, and was never set for anybody else; all
// that EnvironmentScope says of threads holds.

// Runs the body while NCCL waits and does not handle errors on the side: TORCH_NCCL_BLOCKING_WAIT is 1 and
// TORCH_NCCL_ASYNC_ERROR_HANDLING is not set.
void with_nccl_blocking_wait(const std::function<void()>& body);
// Runs the body at each level of TORCH_DISTRIBUTED_DEBUG, as run_subtests() does (test.hpp): a level that fails is
// named and the next one runs, and all ranks meet after each. The variable has that value, and in a plugin that is
// linked with the runtime groups have that level (debug_level()); afterwards both are as they were. A level that is not
// OFF, INFO or DETAIL is an Error{InvalidArgument} then.
void with_dist_debug_levels(Rank& rank, const std::vector<std::string>& levels, const std::function<void()>& body);

}  // namespace distrun
