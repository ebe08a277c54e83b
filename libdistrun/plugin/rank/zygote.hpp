#pragma once
// distrun-rank --zygote: loads a plugin once and forks ranks from it on request. It has one thread, no loop, no logger
// and a small heap, because a fork copies what it has.
#include <string>

#include <distrun/common/base/fd.hpp>

namespace distrun::rank {

// Serves requests on `line`, a packet socket, until it closes. Returns the exit code; ranks exit from within.
int run_zygote(const std::string& plugin, base::Fd line, int coordinator_pid);

}  // namespace distrun::rank
