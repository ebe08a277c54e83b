#pragma once
// What there is of backward passes over several workers, for who looks into a session (rpc::debug_info()).
#include <map>
#include <string>

namespace distrun::dist_autograd {

// Keys "num_autograd_contexts" and "num_current_backward_passes": those that this worker knows, and takes part in.
// Throws Error{Failed} if RPC has not been initialized.
std::map<std::string, std::string> debug_info();

}  // namespace distrun::dist_autograd
