#pragma once
// distrun-rank --list: loads a plugin, asks for its tests and writes them to a descriptor. It may crash or hang: the
// coordinator gives it a bound and reports what happened.
#include <string>

#include <distrun/common/base/fd.hpp>

namespace distrun::rank {

// Reads a wire::ListOrder from `line` to its end, writes a wire::ListReply. Returns the exit code.
int run_lister(const std::string& plugin, base::Fd line);

}  // namespace distrun::rank
