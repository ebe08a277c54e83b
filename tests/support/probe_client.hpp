#pragma once
// Drives distrun-probe as the coordinator does: starts it with its line, sends one order, reads replies until a
// deadline.
#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <distrun/common/wire/stacks.hpp>

namespace distrun::testing {

struct ProbeReply {
  std::vector<wire::ProcessStacks> first_views;  // the first view of each process: the kernel's, without stacks
  std::map<std::int32_t, wire::ProcessStacks> processes;  // the latest view of each process, by index
  std::vector<wire::StackFrame> frames;
  std::optional<wire::ProbeDone> done;  // empty: did not arrive in time
  std::chrono::milliseconds took{};

  // Returns the functions of a stack, innermost first; empty if the thread has no stack.
  std::vector<std::string> functions(const wire::ThreadStack& thread) const;
  // Returns whether the stack has a function with `part` in its name.
  bool has_function(const wire::ThreadStack& thread, const std::string& part) const;
  // Returns the whole reply as text, for failure messages.
  std::string text() const;
};

// `wrapper` is a command that runs the probe, with its arguments. The probe is killed after `limit`.
ProbeReply ask_probe(const wire::ProbeOrder& order, std::chrono::milliseconds limit,
                     const std::vector<std::string>& wrapper = {});

}  // namespace distrun::testing
