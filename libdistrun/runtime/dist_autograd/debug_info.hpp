#pragma once
// Debug information about backward passes over several workers, like rpc::debug_info().
#include <map>
#include <string>

namespace distrun::dist_autograd {

// Returns the keys "num_autograd_contexts" and "num_current_backward_passes": the contexts that this worker knows, and
// the passes that it takes part in. Throws Error{Failed} if RPC has not been initialized.
std::map<std::string, std::string> debug_info();

}  // namespace distrun::dist_autograd
