#pragma once
// distrun-rank --list: loads a plugin, collects its tests and writes them to a descriptor. It may crash or hang: the
// coordinator sets a time limit and reports the outcome.
#include <string>

#include <distrun/common/base/fd.hpp>

namespace distrun::rank {

// Reads a wire::ListOrder from `line` to its end and writes a wire::ListReply. Returns the exit code.
int run_lister(const std::string& plugin, base::Fd line);

}  // namespace distrun::rank
