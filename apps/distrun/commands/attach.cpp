// distrun attach: gdb on a live rank. While gdb holds the rank, the coordinator suspends all timeouts. On another host,
// the command that started its node starts gdb, for this terminal; without a terminal, attach prints what to run.
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

// The head of the debugger's output. A host is named only if the rank runs on another one.
void announce(const Found& found) {
  const std::string host = found.rank.host.empty() ? "" : " on " + base::one_line(found.rank.host);
  std::printf("gdb on rank %d%s (pid %d) of %s; timeouts are suspended while it is attached\n", found.rank.rank,
              host.c_str(), found.rank.pid, base::one_line(found.test, 400).c_str());
  std::fflush(stdout);
}

[[noreturn]] void attach_here(const Found& found) {
  announce(found);
  const std::string pid = std::to_string(found.rank.pid);
  ::execlp("gdb", "gdb", "-q", "-p", pid.c_str(), static_cast<char*>(nullptr));
  throw Error(ErrorKind::Failed, "cannot start gdb: " + base::errno_text(errno) +
                                     "; install it, or attach another debugger to process " + pid);
}

[[noreturn]] void attach_there(const std::string& reach, const Found& found) {
  const std::string command = attach_command(reach, found.rank);
  if (command.empty() || ::isatty(STDIN_FILENO) == 0 || ::isatty(STDOUT_FILENO) == 0) {
    throw Error(ErrorKind::Failed, attach_text(reach, found.rank));
  }
  announce(found);
  ::execl("/bin/sh", "sh", "-c", command.c_str(), static_cast<char*>(nullptr));
  throw Error(ErrorKind::Failed, "cannot start " + base::one_line(command) + ": " + base::errno_text(errno));
}

}  // namespace

int attach(const AttachOptions& options) {
  const wire::RunStatus run = ask_status(find_run(options.run));
  const Found found = find_rank(run, options);
  const std::string reach = found.rank.host.empty() ? reach_of({}, "") : run.reach;
  if (options.print) {
    const std::string command = attach_command(reach, found.rank);
    if (command.empty()) throw Error(ErrorKind::Failed, attach_text(reach, found.rank));
    std::printf("%s\n", command.c_str());
    return 0;
  }
  if (is_here(reach)) attach_here(found);
  attach_there(reach, found);
}

}  // namespace distrun::cli
