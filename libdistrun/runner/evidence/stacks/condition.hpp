#pragma once
// What a thread does, in a form that can be compared: what differs by chance between threads that do the same, such as
// addresses, thread ids and the state of one moment, is left out.
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include <distrun/runner/evidence/stacks/stacks.hpp>

namespace distrun::evidence {

struct Condition {
  bool is_thread = true;  // false: of a process, of whose threads nothing is known
  bool crashed = false;
  std::string threw;  // the exception's type; empty: it did not
  wire::Motion motion = wire::Motion::Unknown;
  char state = 0;            // where the motion does not say it: it may be different in the next moment
  std::string waits_for;     // numbers are #
  std::string call;          // the system call or kernel function in which it waits; empty: none, or not known
  std::string why_none;      // why it has no stack, numbers are #
  std::string kernel_stack;  // of a thread without a stack, and of one that the kernel keeps
  friend auto operator<=>(const Condition&, const Condition&) = default;
};

Condition condition_of(const Process& process, const wire::ThreadStack& thread);
// Of a process whose threads are not known.
Condition condition_of(const Process& process);

// Why there is no stack: what was said, else which sources did not answer. Never empty.
std::string why_no_stack(const Process& process, const std::string& said);

// "read" of "read(3, 0x7ffc..., 1)".
std::string_view name_of_call(std::string_view call);

}  // namespace distrun::evidence
