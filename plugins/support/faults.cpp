#include "faults.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <string_view>
#include <utility>

#include <distrun/common/base/error.hpp>

namespace distrun::suites {
namespace {

// PyTorch's names of messages, and what plans of faults call them.
constexpr std::pair<std::string_view, std::string_view> kKinds[] = {
    {"RREF_FORK_REQUEST", "fork_request"},
    {"RREF_CHILD_ACCEPT", "child_accept"},
    {"RREF_USER_DELETE", "user_delete"},
    {"CLEANUP_AUTOGRAD_CONTEXT_REQ", "cleanup"},
    {"FORWARD_AUTOGRAD_REQ", "forward"},
    {"BACKWARD_AUTOGRAD_REQ", "backward"},
    {"PYTHON_CALL", "call"},
    {"SCRIPT_CALL", "call"},
    {"PYTHON_REMOTE_CALL", "remote"},
    {"SCRIPT_REMOTE_CALL", "remote"},
    {"PYTHON_RREF_FETCH_CALL", "fetch"},
    {"SCRIPT_RREF_FETCH_CALL", "fetch"},
};

[[noreturn]] void refuse(const std::string& text) { throw Error(ErrorKind::InvalidArgument, "RuntimeError", text); }

std::string kind_of(const std::string& name) {
  const auto found =
      std::find_if(std::begin(kKinds), std::end(kKinds), [&](const auto& each) { return each.first == name; });
  if (found == std::end(kKinds)) refuse("No mapping to rpc::MessageType exists for " + name);
  return std::string(found->second);
}

// Returns the shortest text that reads back as the same number.
std::string text_of(double number) {
  char text[32];
  return std::string(text, std::to_chars(text, text + sizeof text, number).ptr);
}

void add(std::string& plan, const std::string& fault) { plan += (plan.empty() ? "0:" : ",") + fault; }

}  // namespace

void PortedFaults::set_plan() {
  faults.clear();
  std::string failing;
  for (const std::string& name : messages_to_fail) failing += (failing.empty() ? "" : "+") + kind_of(name);
  if (!failing.empty() && num_fail_sends > 0) add(faults, "fail:" + failing + ":" + std::to_string(num_fail_sends));
  for (const auto& [name, seconds] : messages_to_delay) {
    const std::string kind = kind_of(name);
    if (!(seconds >= 0)) refuse("Delays passed to FaultyTensorPipeAgent must be non-negative.");
    add(faults, "delay:" + kind + ":" + text_of(seconds));
  }
}

}  // namespace distrun::suites
