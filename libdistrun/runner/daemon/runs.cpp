#include <distrun/runner/daemon/runs.hpp>

#include <signal.h>
#include <unistd.h>

#include <filesystem>
#include <utility>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/rng.hpp>
#include <distrun/common/base/text.hpp>
#include <distrun/runner/daemon/own_run.hpp>
#include <distrun/runner/proc/guard.hpp>

namespace distrun::daemon {
namespace {

constexpr int kInterrupted = 130;  // like distrun's exit code
constexpr int kInfraError = 3;
constexpr std::size_t kCommandMax = 200;

std::string command_of(const wire::Submission& order) {
  std::string text;
  for (const std::string& argument : order.arguments) {
    if (text.size() > kCommandMax) break;
    text += (text.empty() ? "" : " ") + base::shell_quoted(argument);
  }
  return base::one_line(text, kCommandMax);
}

std::string path_of(const base::Fd& directory) {
  std::error_code failure;
  return std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(directory.get()), failure).string();
}

std::vector<std::string> ids_of(const auto& runs) {
  std::vector<std::string> ids;
  for (const auto& [id, run] : runs) ids.push_back(id);
  return ids;
}

}  // namespace

Runs::Runs(io::Loop& loop, std::string program, const RunQueue::Limits& limits, std::function<void()> on_empty, Log log)
    : loop_(loop), program_(std::move(program)), queue_(limits), on_empty_(std::move(on_empty)), log_(std::move(log)) {}

std::string Runs::add(wire::Submission order, std::vector<base::Fd> descriptors, RunEvents events) {
  std::string directory = path_of(descriptors.at(2));
  std::string run_id = base::random_hex(kRunIdDigits);
  queue_.add(run_id);
  Run& run = runs_[run_id];
  run.order = std::move(order);
  run.descriptors = std::move(descriptors);
  run.directory = std::move(directory);
  run.events = std::move(events);
  run.since = loop_.clock().now();
  run.told_ahead = queue_.ahead(run_id);
  log_.info("run " + run_id + ": accepted, " + std::to_string(run.told_ahead) + " ahead: " + command_of(run.order));
  go_on_soon();
  return run_id;
}

// Deferred, since callbacks of runs may call this.
void Runs::go_on_soon() {
  loop_.post([this, alive = std::weak_ptr(alive_)] {
    if (!alive.expired()) go_on();
  });
}

void Runs::go_on() {
  while (const auto run_id = queue_.next()) start(*run_id, runs_.at(*run_id));
  tell_positions();
  if (runs_.empty()) on_empty_();
}

void Runs::tell_positions() {
  for (const std::string& run_id : queue_.queued()) {
    Run& run = runs_.at(run_id);
    const int ahead = queue_.ahead(run_id);
    if (std::exchange(run.told_ahead, ahead) != ahead) run.events.on_position(ahead);
  }
}

proc::ChildSpec Runs::child_of(const std::string& run_id, const Run& run) const {
  proc::ChildSpec spec;
  spec.program = program_;
  spec.name = run.order.arguments.front();
  spec.arguments.assign(run.order.arguments.begin() + 1, run.order.arguments.end());
  std::string own(kOwnRunVariable);
  own += '=';
  for (const std::string& entry : run.order.environment) {
    if (!entry.starts_with(own)) spec.environment.push_back(entry);
  }
  spec.environment.push_back(own + run_id);
  spec.descriptors = {{run.descriptors.at(0).get(), STDOUT_FILENO},
                      {run.descriptors.at(1).get(), STDERR_FILENO},
                      {run.descriptors.at(2).get(), kDirectoryDescriptor}};
  spec.file_mask = static_cast<int>(run.order.file_mask);
  spec.own_session = true;
  return spec;
}

void Runs::start(const std::string& run_id, Run& run) {
  RunProcess::Handlers handlers;
  handlers.on_over = [this, run_id] {
    queue_.set_over(run_id);
    go_on_soon();
  };
  handlers.on_ended = [this, run_id](proc::ExitStatus status) { finish(run_id, {status.code(), status.signal(), ""}); };
  try {
    run.process = std::make_unique<RunProcess>(loop_, child_of(run_id, run), std::move(handlers));
  } catch (const Error& error) {
    return finish(run_id, {kInfraError, 0, error.what()});
  }
  run.descriptors.clear();  // a reader of its output must see the end of file
  run.order.environment = {};
  run.since = loop_.clock().now();
  log_.info("run " + run_id + ": started as process " + std::to_string(run.process->pid()));
  run.events.on_started(run.process->pid());
}

void Runs::finish(const std::string& run_id, wire::RunEnded ended) {
  auto node = runs_.extract(run_id);
  if (node.empty()) return;
  Run& run = node.mapped();
  if (ended.why.empty()) ended.why = run.why;
  queue_.remove(run_id);
  ++done_;
  tell_end(run_id, run, ended);
  go_on_soon();
  if (run.events.on_ended) run.events.on_ended(ended);
}

void Runs::tell_end(const std::string& run_id, const Run& run, const wire::RunEnded& ended) const {
  const std::string how = ended.signal != 0 ? "killed by signal " + std::to_string(ended.signal)
                                            : "exit code " + std::to_string(ended.exit_code);
  const std::string why = ended.why.empty() ? "" : ": " + ended.why;
  const std::string state = run.process ? ": ended after " : ": ended in the queue after ";
  const std::string text = "run " + run_id + state + base::human(loop_.clock().now() - run.since) + ", " + how + why;
  // Results of users' actions or tests are information; failures of distrun itself are warnings.
  ended.exit_code == kInfraError || ended.signal != 0 ? log_.warn(text) : log_.info(text);
}

void Runs::signal(const std::string& run_id, int number) {
  const auto found = runs_.find(run_id);
  if (found == runs_.end()) return;
  if (number == SIGTSTP || number == SIGCONT) {
    queue_.set_stopped(run_id, number == SIGTSTP);
    go_on_soon();
  }
  if (found->second.process) return found->second.process->signal(number);
  if (proc::is_interruption(number)) finish(run_id, {kInterrupted, 0, "cancelled while queued"});
}

void Runs::abandon(const std::string& run_id) {
  const auto found = runs_.find(run_id);
  if (found == runs_.end()) return;
  Run& run = found->second;
  run.events = {[](int) {}, [](pid_t) {}, {}};
  run.process ? run.process->end() : finish(run_id, {kInterrupted, 0, ""});
}

wire::RunsCancelled Runs::cancel(const std::string& which) {
  wire::RunsCancelled cancelled;
  for (const std::string& run_id : ids_of(runs_)) {
    if (which != "all" && which != run_id) continue;
    Run& run = runs_.at(run_id);
    run.why = "cancelled by `distrun cancel`";
    (run.process ? cancelled.running : cancelled.queued).push_back(run_id);
    if (run.process) {
      run.process->signal(SIGINT);
      run.process->signal(SIGCONT);
    } else {
      finish(run_id, {kInterrupted, 0, run.why});
    }
  }
  return cancelled;
}

void Runs::end_all(const std::string& why) {
  for (const std::string& run_id : ids_of(runs_)) {
    Run& run = runs_.at(run_id);
    run.why = why;
    run.process ? run.process->end() : finish(run_id, {kInterrupted, 0, why});
  }
}

wire::DaemonRun Runs::status_of(const std::string& run_id, const Run& run) const {
  wire::DaemonRun status;
  status.run_id = run_id;
  status.pid = run.process ? run.process->pid() : 0;
  status.ahead = queue_.ahead(run_id);
  const base::Nanoseconds age = loop_.clock().now() - run.since;
  status.since_ms = std::chrono::duration_cast<base::Milliseconds>(age).count();
  status.stopped = queue_.is_stopped(run_id);
  status.over = queue_.is_over(run_id);
  status.command = command_of(run.order);
  status.directory = run.directory;
  return status;
}

std::vector<wire::DaemonRun> Runs::status() const {
  std::vector<wire::DaemonRun> all;
  for (const auto& [run_id, run] : runs_) {
    if (run.process) all.push_back(status_of(run_id, run));
  }
  for (const std::string& run_id : queue_.queued()) all.push_back(status_of(run_id, runs_.at(run_id)));
  return all;
}

}  // namespace distrun::daemon
