#pragma once
// The options of the agent "faulty" as ported tests state them: messages by PyTorch's names, with PyTorch's defaults.
#include <map>
#include <string>
#include <vector>

#include <distrun/rpc.hpp>

namespace distrun::suites {

// Set the fields, then call set_plan().
struct PortedFaults : rpc::FaultyOptions {
  PortedFaults() : FaultyOptions(8) {}

  // Writes the fields into `faults`. Throws Error{InvalidArgument, "RuntimeError"}: "No mapping to rpc::MessageType
  // exists for X", "Delays passed to FaultyTensorPipeAgent must be non-negative.".
  void set_plan();

  int num_fail_sends = 3;  // first sends that fail, per message of a kind in messages_to_fail
  std::vector<std::string> messages_to_fail = {"RREF_FORK_REQUEST", "RREF_CHILD_ACCEPT", "RREF_USER_DELETE",
                                               "CLEANUP_AUTOGRAD_CONTEXT_REQ"};
  std::map<std::string, double> messages_to_delay = {{"PYTHON_CALL", 1.5}, {"SCRIPT_CALL", 1.5}};  // seconds
};

}  // namespace distrun::suites
