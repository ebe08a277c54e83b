// distrun attach: gdb on a live rank. While gdb holds the rank, the coordinator suspends all timeouts. For a rank on
// another host, says what to run.
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <vector>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/text.hpp>

#include "commands.hpp"
#include "reach.hpp"
#include "run_socket.hpp"

namespace distrun::cli {
namespace {

struct Found {
  std::string test;
  wire::RankStatus rank;
};

std::vector<Found> ranks_of_number(const wire::RunStatus& run, int number) {
  std::vector<Found> all;
  for (const wire::TestStatus& test : run.tests) {
    for (const wire::RankStatus& rank : test.ranks) {
      if (rank.rank == number && rank.pid != 0) all.push_back({test.test, rank});
    }
  }
  return all;
}

Found find_rank(const wire::RunStatus& run, const AttachOptions& options) {
  std::vector<Found> all = ranks_of_number(run, options.rank);
  const std::string rank = "rank " + std::to_string(options.rank);
  if (all.empty()) {
    throw Error(ErrorKind::InvalidArgument,
                "run " + run.run_id + " has no " + rank + " now; `distrun ps` shows its ranks");
  }
  if (!options.test.empty()) std::erase_if(all, [&](const Found& each) { return each.test != options.test; });
  if (all.empty()) {
    throw Error(ErrorKind::InvalidArgument, "no test " + options.test + " with a " + rank + " runs at the moment");
  }
  if (all.size() > 1) {
    throw Error(ErrorKind::InvalidArgument, std::to_string(all.size()) + " tests with a " + rank +
                                                " are running; select one with --test, as in --test " +
                                                all.front().test);
  }
  return all.front();
}

}  // namespace

int attach(const AttachOptions& options) {
  const wire::RunStatus run = ask_status(find_run(options.run));
  const Found found = find_rank(run, options);
  if (!found.rank.host.empty()) throw Error(ErrorKind::Failed, attach_text(run.reach, found.rank));
  const std::string pid = std::to_string(found.rank.pid);
  std::printf("gdb on rank %d (pid %s) of %s; timeouts are suspended while it is attached\n", options.rank, pid.c_str(),
              base::one_line(found.test, 400).c_str());
  std::fflush(stdout);
  ::execlp("gdb", "gdb", "-q", "-p", pid.c_str(), static_cast<char*>(nullptr));
  throw Error(ErrorKind::Failed, "cannot start gdb: " + base::errno_text(errno) +
                                     "; install it, or attach another debugger to process " + pid);
}

}  // namespace distrun::cli
