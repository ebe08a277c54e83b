#include "play.hpp"

#include <signal.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <stdexcept>

#include "disturb.hpp"
#include "leftover.hpp"
#include "small_disk.hpp"
#include "support/daemon.hpp"
#include "support/events.hpp"
#include "support/neighbour.hpp"
#include "support/sandbox.hpp"

namespace distrun::soak {
namespace {

using namespace distrun::testing;
using fixtures::Disturbs;

// Time that a clean-up may take after the client or the CLI has ended: if the guard was killed, the coordinator ends
// the run; if the daemon was killed, its runs end as by SIGTERM.
milliseconds gone_within(Disturbs what) {
  if (what == Disturbs::KilledGuard) return milliseconds(1000);
  return milliseconds(what == Disturbs::KilledDaemon ? 3000 : 0);
}
constexpr milliseconds kStartAndEnd{10'000};
constexpr milliseconds kSlowPause{5};
constexpr std::size_t kSlowBytes = 512;
constexpr std::size_t kManyBytes = 1U << 16U;

bool is_kill(Disturbs what) {
  return what == Disturbs::KilledZygote || what == Disturbs::KilledCoordinator || what == Disturbs::KilledGuard ||
         what == Disturbs::KilledDaemon;
}
bool has_reader(Disturbs what) {
  return what == Disturbs::SlowReader || what == Disturbs::StalledReader || what == Disturbs::GoneReader;
}

// Longer than all its tests take in sequence.
milliseconds limit_of(const Invocation& invocation) {
  const auto each = milliseconds(fixtures::kSoakBoundMs + fixtures::kLatestEndMs);
  return at_latest(kStartAndEnd + each * invocation.cases.size());
}

// Runs distrun for one invocation beside a neighbour, and collects the results.
class Run {
 public:
  Run(const Programs& programs, const Invocation& invocation, bool small_disks)
      : invocation_(invocation), programs_(programs), sandbox_(programs.distrun) {
    if (small_disks) disk_.emplace(sandbox_.temp());
    std::vector<std::string> shared{sandbox_.start_directory()};
    if (!disk_) shared.push_back(sandbox_.temp());  // the neighbour would fill the small disk
    neighbour_.emplace(programs.neighbour, std::move(shared));
    if (invocation.through_daemon) daemon_.emplace(programs.daemon);
  }

  Seen run() {
    Command command = daemon_ ? daemon_->command(sandbox_, arguments()) : sandbox_.command(arguments());
    if (!disk_) command.environment.push_back("SOAK_DISK=limit");
    has_reader(invocation_.disturbs) ? run_with_reader(std::move(command)) : run_alone(std::move(command));
    look();
    sweep();
    if (daemon_) end_daemon();
    return std::move(seen_);
  }
  std::string output() const { return sandbox_.output(); }

 private:
  Texts arguments() const;
  void run_alone(Command command);
  void run_with_reader(Command command);
  void finish(Running& running, milliseconds limit);
  void look();
  Texts remains() const;
  void sweep() const;
  void start_daemon_again();
  void end_daemon();

  const Invocation& invocation_;
  const Programs& programs_;
  Sandbox sandbox_;
  std::optional<SmallDisk> disk_;
  std::optional<Neighbour> neighbour_;
  std::optional<Daemon> daemon_;
  std::string run_id_;  // when no summary has it
  std::uint64_t tag_ = 0;
  Seen seen_;
};

Texts Run::arguments() const {
  Texts all = {"run", "--output", sandbox_.output(), "--color", "never"};
  if (time_scale() != 1) all.insert(all.end(), {"--timeout-scale", std::to_string(time_scale())});
  if (invocation_.through_daemon) all.push_back("--daemon");
  if (invocation_.disturbs == Disturbs::FullReport) all.insert(all.end(), {"--ctrf", "/dev/full"});
  for (std::string& argument : arguments_for(invocation_, programs_.plugin)) all.push_back(std::move(argument));
  return all;
}

void Run::finish(Running& running, milliseconds limit) {
  const Ended ended = running.wait(limit);
  seen_.out_of_time = ended.out_of_time;
  seen_.exit_code = ended.exit_code;
  seen_.signal = ended.signal;
  seen_.console += ended.out + ended.err;
}

void Run::run_alone(Command command) {
  Running running(std::move(command));
  seen_.struck = true;
  if (is_kill(invocation_.disturbs)) {
    running.ends_within(invocation_.after);
    run_id_ = sandbox_.run_id_in_use();
    tag_ = tag_in_use(sandbox_);
    seen_.struck = strike(running, daemon_ ? &*daemon_ : nullptr, invocation_.disturbs);
    if (seen_.struck && invocation_.disturbs == Disturbs::KilledDaemon) start_daemon_again();
  }
  finish(running, limit_of(invocation_));
}

void Run::run_with_reader(Command command) {
  Reader reader;
  command.standard_output = reader.end_to_write();
  Running running(std::move(command));
  reader.hand_over();
  seen_.struck = true;
  const milliseconds limit = limit_of(invocation_);
  if (invocation_.disturbs == Disturbs::GoneReader) {
    reader.go_away();
  } else if (invocation_.disturbs == Disturbs::SlowReader) {
    seen_.console = reader.read(kSlowBytes, kSlowPause, limit);
  } else {
    pause_for(invocation_.after);
    seen_.console = reader.read(kManyBytes, milliseconds(0), limit);
  }
  finish(running, limit);
}

// All runs share /dev/shm: ignores the names of other runs.
Texts Run::remains() const {
  Texts all = sandbox_.remains();
  std::erase_if(all, [&](const std::string& what) {
    return what.starts_with("/dev/shm/") && (run_id_.empty() || what.find(run_id_) == std::string::npos);
  });
  for (std::string& process : processes_with(tag_)) all.push_back(std::move(process));
  if (seen_.summary) {
    for (std::string& process : not_ended(*seen_.summary)) all.push_back(std::move(process));
  }
  return all;
}

void Run::look() {
  try {
    seen_.summary = sandbox_.summary();
    run_id_ = seen_.summary->run_id;
  } catch (const std::exception& error) {
    seen_.no_summary = error.what();
  }
  // A kill after everything was written has changed nothing.
  const bool changed = !seen_.summary || seen_.exit_code == 3;
  const bool is_told =
      invocation_.disturbs == Disturbs::KilledCoordinator || invocation_.disturbs == Disturbs::KilledDaemon;
  if (is_told && !changed) seen_.struck = false;
  // When distrun ends it has cleaned up, except as allowed by gone_within().
  const auto nothing_left = [&] { return remains().empty(); };
  eventually(scaled(gone_within(invocation_.disturbs)), nothing_left);
  seen_.remains = remains();
  seen_.verdicts = verdicts_in_events(sandbox_.output() + "/events.ndjson");
}

// Removes what belongs to this run: Sandbox::sweep() would take other runs' names in /dev/shm. The sandbox removes its
// directories.
void Run::sweep() const {
  for (const ProcessInfo& info : sandbox_.processes()) kill(info.pid, SIGKILL);
  for (const std::string& name : names_in("/dev/shm")) {
    if (!run_id_.empty() && name.find(run_id_) != std::string::npos) std::filesystem::remove("/dev/shm/" + name);
  }
}

// Starts it while the previous daemon's run may still be ending.
void Run::start_daemon_again() {
  daemon_->kill();  // it is dead; this waits for it
  daemon_->start();
}

void Run::end_daemon() {
  const Sandbox sandbox(programs_.distrun);
  Invocation trivial;
  trivial.isolation = invocation_.isolation;
  trivial.cases = {{.fault = "none", .moment = "at_once"}};
  Texts arguments = {"run", "--daemon"};
  for (std::string& argument : arguments_for(trivial, programs_.plugin)) arguments.push_back(std::move(argument));
  const Ended served = daemon_->start(sandbox, arguments).wait(at_latest(kStartAndEnd));
  seen_.served = served.exit_code;
  seen_.console_served = served.out + served.err;
  seen_.daemon_end = daemon_->stop().exit_code;
}

bool all_right(const std::vector<Checked>& all) {
  return std::all_of(all.begin(), all.end(), [](const Checked& each) { return each.wrong.empty(); });
}

void keep_reports(const std::string& from, const std::string& to, const std::string& console) {
  std::filesystem::remove_all(to);
  std::filesystem::create_directories(to);
  std::filesystem::copy(from, to, std::filesystem::copy_options::recursive);
  write_file(to + "/console.txt", console);
}

}  // namespace

Texts arguments_for(const Invocation& invocation, const std::string& plugin) {
  Texts arguments = {"--isolation", invocation.isolation, "--jobs", std::to_string(invocation.jobs), "--timeout",
                     "20s",         "--shuffle",          "--seed", std::to_string(invocation.seed)};
  for (const Case& each : invocation.cases) arguments.insert(arguments.end(), {"--filter", each.id()});
  arguments.push_back(plugin);
  return arguments;
}

std::vector<Checked> Play::play(const Invocation& invocation) const {
  Run run(programs_, invocation, small_disks_ && invocation.jobs == 1);
  const Seen seen = run.run();
  std::vector<Checked> checked = check(invocation, seen, time_scale() * machine_load());
  if (!keep_.empty() && !all_right(checked)) {
    keep_reports(run.output(), keep_ + "/invocation-" + std::to_string(invocation.number), seen.console);
  }
  return checked;
}

}  // namespace distrun::soak
