#pragma once
// The activity of a thread in a comparable form: without anything that differs by chance between threads doing the
// same, such as addresses, thread ids and momentary states.
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include <distrun/runner/evidence/stacks/stacks.hpp>

namespace distrun::evidence {

struct Condition {
  bool is_thread = true;  // false: stands for a process of unknown threads
  bool crashed = false;
  std::string threw;  // the exception's type; empty: none was thrown
  wire::Motion motion = wire::Motion::Unknown;
  char state = 0;            // only where the motion does not imply it, since it may change at any moment
  std::string call;          // the system call or kernel function in which it waits; empty: none or unknown
  std::string why_none;      // why it has no stack, with numbers replaced by #
  std::string kernel_stack;  // of a thread without a stack, or in state D
  std::int64_t apart = 0;    // of a thread in a cycle of waits, as WaitLabels::cycle_of(): no other may join it
  friend auto operator<=>(const Condition&, const Condition&) = default;
};

Condition condition_of(const Process& process, const wire::ThreadStack& thread);
// Used for a process of unknown threads.
Condition condition_of(const Process& process);

// Returns whether the thread used its CPU between the samples.
bool is_on_the_move(wire::Motion motion) noexcept;

// Returns the given reason, else the sources that did not answer and why. Never empty.
std::string why_no_stack(const Process& process, const std::string& said);

// Returns "read" for "read(3, 0x7ffc..., 1)".
std::string_view name_of_call(std::string_view call);

// Returns the system call that a thread was seen in, else the kernel function that it sleeps in. It may have been ready
// in one of the looks, on a busy machine in particular, and in a call in the other. The view lives as long as `thread`.
std::string_view call_of(const wire::ThreadStack& thread);

}  // namespace distrun::evidence
