// distrun attach: gdb on a live rank. While it holds the rank, the coordinator lets no bound run out.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>

#include <distrun/base/error.hpp>

#include "commands.hpp"
#include "run_socket.hpp"

namespace distrun::cli {

int attach(const AttachOptions& options) {
  const wire::RunStatus run = ask_status(find_run(options.run));
  const auto rank = std::find_if(run.ranks.begin(), run.ranks.end(),
                                 [&](const wire::RankStatus& each) { return each.rank == options.rank; });
  if (rank == run.ranks.end() || rank->pid == 0) {
    throw Error(ErrorKind::InvalidArgument, "run " + run.run_id + " has no rank " + std::to_string(options.rank) +
                                                " at the moment; `distrun ps` shows those that it has");
  }
  const std::string pid = std::to_string(rank->pid);
  std::printf("gdb on rank %d (pid %s) of %s; no bound runs out while it is attached\n", rank->rank, pid.c_str(),
              run.test.c_str());
  std::fflush(stdout);
  ::execlp("gdb", "gdb", "-q", "-p", pid.c_str(), static_cast<char*>(nullptr));
  throw Error(ErrorKind::Failed, "cannot start gdb: " + base::errno_text(errno) +
                                     "; install it, or attach another debugger to process " + pid);
}

}  // namespace distrun::cli
