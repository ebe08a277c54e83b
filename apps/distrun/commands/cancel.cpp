// distrun cancel: ends runs as Ctrl-C does; those of the daemon, waiting or not, and those of any distrun of this user.
#include <algorithm>
#include <cstdio>
#include <optional>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/text.hpp>
#include <distrun/runner/daemon/address.hpp>
#include <distrun/runner/daemon/client.hpp>

#include "commands.hpp"
#include "exit_codes.hpp"
#include "run_socket.hpp"

namespace distrun::cli {
namespace {

constexpr char kAll[] = "all";

// A daemon that does not answer keeps nobody from ending what it has not started.
std::vector<std::string> ids_in_daemon(const std::string& socket) {
  std::vector<std::string> ids;
  try {
    const std::optional<wire::DaemonStatus> status = daemon::find_status(socket);
    if (!status) return ids;
    for (const wire::DaemonRun& run : status->runs) ids.push_back(run.run_id);
  } catch (const Error& error) {
    std::fprintf(stderr, "distrun: %s\n", base::printable(error.what()).c_str());
  }
  return ids;
}

bool holds(const std::vector<std::string>& ids, const std::string& id) {
  return std::find(ids.begin(), ids.end(), id) != ids.end();
}

// How many were told to end.
int cancel_in_daemon(const std::string& socket, const std::string& which) {
  const wire::RunsCancelled cancelled = daemon::cancel(socket, which);
  for (const std::string& id : cancelled.queued) std::printf("run %s waited, and does not start\n", id.c_str());
  for (const std::string& id : cancelled.running) std::printf("run %s ends\n", id.c_str());
  return static_cast<int>(cancelled.queued.size() + cancelled.running.size());
}

// 1: it ends, or has ended; 0: it cannot be told.
int cancel_one(const std::string& id) {
  try {
    cancel_run(id);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::Disconnected) {  // it was there a moment ago
      std::printf("run %s has ended\n", base::one_line(id).c_str());
      return 1;
    }
    std::fprintf(stderr, "distrun: %s: %s\n", base::one_line(id).c_str(), base::printable(error.what()).c_str());
    return 0;
  }
  std::printf("run %s ends\n", base::one_line(id).c_str());
  return 1;
}

}  // namespace

int cancel(const CancelOptions& options) {
  const std::string socket = daemon::socket_path();
  const std::vector<std::string> in_daemon = ids_in_daemon(socket);
  if (options.run != kAll) {
    const std::string id = find_run(options.run, in_daemon);
    const int told = holds(in_daemon, id) ? cancel_in_daemon(socket, id) : cancel_one(id);
    return told > 0 ? kSuccess : kInfraError;
  }
  const std::vector<std::string> all = running_ids();
  int told = in_daemon.empty() ? 0 : cancel_in_daemon(socket, kAll);
  int wanted = told;
  for (const std::string& id : all) {
    if (holds(in_daemon, id)) continue;
    ++wanted;
    told += cancel_one(id);
  }
  if (wanted == 0) std::printf("no distrun of this user runs at the moment\n");
  return told == wanted ? kSuccess : kInfraError;
}

}  // namespace distrun::cli
