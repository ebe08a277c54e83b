#pragma once
// Sets environment variables for a part of a test.
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

namespace distrun {

// A variable for an EnvironmentScope.
struct Variable {
  std::string name;                  // not empty, without '='
  std::optional<std::string> value;  // nullopt: unset
};

//   const EnvironmentScope detailed{{"TORCH_DISTRIBUTED_DEBUG", "DETAIL"}, {"RANK", std::nullopt}};
//
// Sets or unsets variables while it lives, and then restores all of them. Variables belong to the process: no other
// thread may read or set any at the same time, and ranks that are threads share them.
class EnvironmentScope {
 public:
  // Throws Error{InvalidArgument}, and changes nothing, for a name that is empty or contains '='.
  EnvironmentScope(std::initializer_list<Variable> variables);
  EnvironmentScope(const EnvironmentScope&) = delete;
  EnvironmentScope& operator=(const EnvironmentScope&) = delete;
  ~EnvironmentScope();

 private:
  std::vector<Variable> before_;
};

class Rank;

// Two helpers of ported tests. They always restore their variables; EnvironmentScope's notes on threads apply.

// Runs the body with NCCL in blocking mode without asynchronous error handling: TORCH_NCCL_BLOCKING_WAIT is 1 and
// TORCH_NCCL_ASYNC_ERROR_HANDLING is unset.
void with_nccl_blocking_wait(const std::function<void()>& body);
// Runs the body at each level of TORCH_DISTRIBUTED_DEBUG, like run_subtests() (test.hpp): reports name a level that
// fails, the next one runs, and all ranks meet after each. Sets the variable and, in a plugin linked with the runtime,
// the debug_level() of groups; both are restored afterwards. There, an unknown level is an Error{InvalidArgument}.
void with_dist_debug_levels(Rank& rank, const std::vector<std::string>& levels, const std::function<void()>& body);

}  // namespace distrun
