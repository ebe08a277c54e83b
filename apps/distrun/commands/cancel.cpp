// distrun cancel: ends runs like Ctrl-C: queued or running ones of the daemon, and any of this user.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/text.hpp>
#include <distrun/runner/daemon/address.hpp>
#include <distrun/runner/daemon/client.hpp>

#include "commands.hpp"
#include "exit_codes.hpp"
#include "run_socket.hpp"
#include "run_words.hpp"

namespace distrun::cli {
namespace {

constexpr char kAll[] = "all";

// If the daemon does not answer, runs that it has not started can still be ended.
std::vector<wire::DaemonRun> runs_in_daemon(const std::string& socket) {
  try {
    if (const std::optional<wire::DaemonStatus> status = daemon::find_status(socket)) return status->runs;
  } catch (const Error& error) {
    std::fprintf(stderr, "distrun: %s\n", base::printable(error.what()).c_str());
  }
  return {};
}

// A run that is to be ended.
struct Doomed {
  std::string id;
  std::optional<wire::RunStatus> status;     // of its coordinator, if there is one and it answers
  std::optional<wire::DaemonRun> in_daemon;  // the daemon has it
  std::optional<Error> no_answer;            // set instead of the status
};

Doomed look_at(const std::string& id, const std::vector<wire::DaemonRun>& in_daemon) {
  Doomed run;
  run.id = id;
  const auto found =
      std::find_if(in_daemon.begin(), in_daemon.end(), [&](const auto& each) { return each.run_id == id; });
  if (found != in_daemon.end()) run.in_daemon = *found;
  if (run.in_daemon && run.in_daemon->pid == 0) return run;  // queued
  try {
    run.status = ask_status(id);
  } catch (const Error& error) {
    run.no_answer = error;
  }
  return run;
}

std::string words_of(const Doomed& run) {
  if (run.status) return command_text(*run.status) + " (" + origin_text(*run.status) + ")";
  return run.in_daemon ? waiting_text(*run.in_daemon) : "";
}

bool was_started_elsewhere(const Doomed& run) {
  const std::string directory = run.status      ? run.status->directory
                                : run.in_daemon ? run.in_daemon->directory
                                                : std::string();
  std::error_code failure;
  return !directory.empty() && directory != std::filesystem::current_path(failure).string();
}

// Asks only on a terminal.
bool may_end(const Doomed& run, const CancelOptions& options) {
  const bool asks = !options.yes && ::isatty(STDIN_FILENO) == 1 && ::isatty(STDERR_FILENO) == 1;
  if (!asks || !was_started_elsewhere(run)) return true;
  std::fprintf(stderr, "run %s was started in another directory: %s\nCancel it? [y/N] ", base::one_line(run.id).c_str(),
               words_of(run).c_str());
  char answer[16] = "";
  const bool answered = std::fgets(answer, sizeof answer, stdin) != nullptr;
  if (answered && (answer[0] == 'y' || answer[0] == 'Y')) return true;
  std::printf("run %s continues\n", base::one_line(run.id).c_str());
  return false;
}

void tell_end(const Doomed& run) {
  const std::string words = words_of(run);
  std::printf("run %s is ending%s\n", base::one_line(run.id).c_str(), words.empty() ? "" : (": " + words).c_str());
}

void end_in_daemon(const std::string& socket, const Doomed& run) {
  const wire::RunsCancelled cancelled = daemon::cancel(socket, run.id);
  for (const std::string& id : cancelled.queued) {
    std::printf("run %s was queued and will not start: %s\n", id.c_str(), words_of(run).c_str());
  }
  if (!cancelled.running.empty()) tell_end(run);
  // It was there a moment ago.
  if (cancelled.queued.empty() && cancelled.running.empty()) std::printf("run %s has ended\n", run.id.c_str());
}

// Returns false if the run could not be notified.
bool end_alone(const Doomed& run) {
  try {
    if (run.no_answer) throw Error(*run.no_answer);
    cancel_run(run.id);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::Disconnected) {  // it was there a moment ago
      std::printf("run %s has ended\n", base::one_line(run.id).c_str());
      return true;
    }
    std::fprintf(stderr, "distrun: %s: %s\n", base::one_line(run.id).c_str(), base::printable(error.what()).c_str());
    return false;
  }
  tell_end(run);
  return true;
}

std::vector<std::string> ids_of(const std::vector<wire::DaemonRun>& runs) {
  std::vector<std::string> ids;
  for (const wire::DaemonRun& run : runs) ids.push_back(run.run_id);
  return ids;
}

// The daemon's queue comes first: otherwise it would start the next run when one has ended.
std::vector<std::string> ids_to_end(const CancelOptions& options, const std::vector<wire::DaemonRun>& in_daemon) {
  std::vector<std::string> ids = ids_of(in_daemon);
  if (options.run != kAll) return {find_run(options.run, ids)};
  std::reverse(ids.begin(), ids.end());  // queued runs are last
  for (const std::string& id : running_ids()) {
    if (std::find(ids.begin(), ids.end(), id) == ids.end()) ids.push_back(id);
  }
  return ids;
}

}  // namespace

int cancel(const CancelOptions& options) {
  const std::string socket = daemon::socket_path();
  const std::vector<wire::DaemonRun> in_daemon = runs_in_daemon(socket);
  bool all_told = true;
  const std::vector<std::string> ids = ids_to_end(options, in_daemon);
  for (const std::string& id : ids) {
    const Doomed run = look_at(id, in_daemon);
    if (!may_end(run, options)) continue;
    if (run.in_daemon) {
      end_in_daemon(socket, run);
    } else {
      all_told = end_alone(run) && all_told;
    }
  }
  if (ids.empty()) std::printf("no distrun of this user is running\n");
  return all_told ? kSuccess : kInfraError;
}

}  // namespace distrun::cli
