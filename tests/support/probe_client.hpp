#pragma once
// distrun-probe as the coordinator sees it: started with its line, given one order, listened to under a deadline.
#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <distrun/common/wire/stacks.hpp>

namespace distrun::testing {

struct ProbeReply {
  std::vector<wire::ProcessStacks> first_views;           // as they came first: the kernel's, without stacks
  std::map<std::int32_t, wire::ProcessStacks> processes;  // by index, as they came last
  std::vector<wire::StackFrame> frames;
  std::optional<wire::ProbeDone> done;  // empty: it did not come in time
  std::chrono::milliseconds took{};

  // The functions of a stack, innermost first; empty if the thread has none.
  std::vector<std::string> functions(const wire::ThreadStack& thread) const;
  // Whether a function whose name has this part is in it.
  bool has_function(const wire::ThreadStack& thread, const std::string& part) const;
  // All of it as text, for a test that fails.
  std::string text() const;
};

// `wrapper` is a command that runs the probe, with its arguments. The probe is killed when `limit` is over.
ProbeReply ask_probe(const wire::ProbeOrder& order, std::chrono::milliseconds limit,
                     const std::vector<std::string>& wrapper = {});

}  // namespace distrun::testing
