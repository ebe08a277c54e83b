#pragma once
// The CPUs that a rank runs on (--bind).
#include <string>

namespace distrun::rank {

// Lets this thread, and those that it starts from now on, run on these CPUs only: "0-3,8"; empty changes nothing.
// Throws Error if the text is no such list, or if the kernel refuses.
void bind_to(const std::string& cpus);

}  // namespace distrun::rank
