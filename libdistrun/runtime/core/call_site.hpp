#pragma once
// Where in the user's code something was asked for. An operator is many calls deep by the time it puts a kernel on a
// stream, and a formula of a backward pass runs on a thread that no user has called: reports are to name the line that
// called the operator, or that began the pass.
#include <optional>
#include <string>

#include <distrun/common/base/location.hpp>
#include <distrun/runtime/core/call_stack.hpp>

namespace distrun::core {

// A value that is cheap to take and to keep; symbols/caller.hpp makes text of it.
struct CallSite {
  base::Location location;              // as the caller has said; line 0: it said nothing, and the stacks tell
  const CallStack* stack = nullptr;     // of the thread
  const CallStack* beginner = nullptr;  // of who has begun what the thread does for somebody; null: nobody else
  const std::string* step = nullptr;    // of that, which one it is: "MulBackward0"; lives on; null: there is none
};

// Of what the calling thread asks for now. Without a line the stack is taken.
CallSite call_site(base::Location given);

// For a scope: the thread does a step of what another one has begun. `name(step)` is asked for its name only if
// somebody wants the site of work in it; what they point to must outlive the scope.
class StepFor {
 public:
  using Name = std::string (*)(const void* step);

  StepFor(const CallStack* beginner, const void* step, Name name) noexcept;
  // The step says all: sites in it have that place, whatever the caller gives; line 0: none.
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
