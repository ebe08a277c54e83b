#pragma once
// Where in the user's code an operation was requested. An operator is many calls deep when it puts a kernel on a
// stream, and a formula of a backward pass runs on a thread that the user has not started. Reports must name the line
// that called the operator, or that began the pass.
#include <optional>
#include <string>

#include <distrun/common/base/location.hpp>
#include <distrun/runtime/core/call_stack.hpp>

namespace distrun::core {

// Cheap to create and to keep; symbols/caller.hpp turns it into text.
struct CallSite {
  base::Location location;              // as given by the caller; line 0: not given, use the stacks
  const CallStack* stack = nullptr;     // of the calling thread
  const CallStack* beginner = nullptr;  // of the thread that began the work; null: the calling thread itself
  const std::string* step = nullptr;    // the step of that work: "MulBackward0"; never destroyed; null: none
};

// Returns the site of what the calling thread requests now. Takes the stack if `given` has no line.
CallSite call_site(base::Location given);

// Scope guard. While it lives, the thread executes a step of work that another thread has begun. `name(step)` is called
// only if the site of work in the step is requested; the pointers must outlive the scope.
class StepFor {
 public:
  using Name = std::string (*)(const void* step);

  StepFor(const CallStack* beginner, const void* step, Name name) noexcept;
  // Sites in the step have this place, regardless of what the caller gives; line 0: unknown.
  StepFor(base::Location place, const void* step, Name name) noexcept;
  ~StepFor();
  StepFor(const StepFor&) = delete;
  StepFor& operator=(const StepFor&) = delete;

 private:
  friend CallSite call_site(base::Location given);

  const CallStack* const beginner_;
  const std::optional<base::Location> place_;
  const void* const step_;
  const Name name_;
  const StepFor* const outer_;
};

}  // namespace distrun::core
