#include "doctor_of_program.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <distrun/common/base/rng.hpp>
#include <distrun/common/base/text.hpp>
#include <distrun/common/io/fd_watch.hpp>
#include <distrun/common/io/one_shot.hpp>
#include <distrun/runner/daemon/own_run.hpp>
#include <distrun/runner/launch/cpu_times.hpp>
#include <distrun/runner/proc/child.hpp>
#include <distrun/runner/proc/pidfd.hpp>

#include "coordinator.hpp"
#include "exit_codes.hpp"
#include "guarded.hpp"
#include "process_examiner.hpp"
#include "program_path.hpp"

namespace distrun::cli {
namespace {

// The program's standard output is that of distrun, unless that is for JSON.
proc::ChildSpec spec_of(const DoctorOptions& options) {
  proc::ChildSpec spec;
  spec.program = find_program(options.program.front());
  spec.arguments.assign(options.program.begin() + 1, options.program.end());
  spec.environment = proc::inherited_environment();
  const int output = options.json == "-" ? STDERR_FILENO : STDOUT_FILENO;
  spec.descriptors = {{output, STDOUT_FILENO}, {STDERR_FILENO, STDERR_FILENO}};
  return spec;
}

// The first interval after which a program that has used no CPU meanwhile is examined early; it doubles each time.
constexpr base::Nanoseconds kRest = std::chrono::seconds(1);

bool has_proof(const ExaminedTest& examined) {
  const auto& causes = examined.examination.causes;
  return std::any_of(causes.begin(), causes.end(), [](const runner::HangCause& cause) { return cause.is_deadlock(); });
}

// The program from its start until it has ended or its hang is explained: a proven deadlock at once, any other
// finding when its time is over. Lives on: the loop.
class ProgramCase {
 public:
  ProgramCase(io::Loop& loop, const DoctorOptions& options)
      : loop_(loop), options_(options), over_(loop), late_(loop, [this] { on_late(); }), rest_(loop, [this] {
          look_for_rest();
        }) {}

  // Returns the exit code.
  io::Task<int> run() {
    const base::TimePoint began = loop_.clock().now();
    proc::Child child = proc::start_rank(spec_of(options_));
    pid_ = child.pid;
    ended_ = std::make_unique<io::FdWatch>(loop_, std::move(child.pidfd), [this] { on_end(); });
    late_.set(began + options_.after);
    rest_.set(began + kRest);
    const int code = co_await over_.wait();
    if (status_) tell_end(loop_.clock().now() - began);
    co_return code;
  }

  void stop() {
    if (!over_.is_set()) over_.set(kInterrupted);
  }

 private:
  void on_end() {
    status_ = proc::try_reap(pid_);
    if (!status_) return;
    ended_.reset();
    finish(kSuccess);
  }

  void on_late() {
    is_late_ = true;
    if (!is_examining_) examine();
  }

  void look_for_rest() {
    const std::optional<std::uint64_t> used = launch::cpu_time_at_rest(pid_);
    const bool is_same = std::exchange(used_, used) == used;
    if (used && is_same && !is_examining_) examine();
    rest_.set_after(interval_);
  }

  void examine() {
    is_examining_ = true;
    examiner_ = std::make_unique<ProcessExaminer>(loop_, std::vector<int>{pid_},
                                                  [this](const ExaminedTest& examined) { on_examined(examined); });
    examiner_->begin();
  }

  // An examination costs the program CPU time, so it is not at rest for the next interval.
  void on_examined(const ExaminedTest& examined) {
    is_examining_ = false;
    interval_ *= 2;
    if (over_.is_set()) return;
    if (has_proof(examined) || is_late_) finish(tell_examination(examined, options_));
  }

  void finish(int code) {
    late_.cancel();
    rest_.cancel();
    if (!over_.is_set()) over_.set(code);
  }

  void tell_end(base::Nanoseconds lasted) const {
    std::fprintf(stderr, "distrun: %s %s after %s; it did not hang\n",
                 base::one_line(options_.program.front(), 400).c_str(), status_->describe().c_str(),
                 base::human(lasted).c_str());
  }

  io::Loop& loop_;
  const DoctorOptions& options_;
  io::OneShot<int> over_;
  io::Alarm late_;
  io::Alarm rest_;
  base::Nanoseconds interval_ = kRest;
  std::optional<std::uint64_t> used_;  // CPU time at the last look; nothing: it was running
  bool is_late_ = false;
  bool is_examining_ = false;
  pid_t pid_ = 0;
  std::optional<proc::ExitStatus> status_;  // set once the program has ended
  std::unique_ptr<io::FdWatch> ended_;
  std::unique_ptr<ProcessExaminer> examiner_;
};

io::Task<void> run_to(ProgramCase& program, int& code) { code = co_await program.run(); }

int coordinate(const DoctorOptions& options, const proc::RunPlaces& places, proc::Coordinator coordinator) {
  CoordinatorLoop main(std::move(coordinator), places);
  ProgramCase program(main.loop(), options);
  main.on_stop([&program](runner::Urgency) { program.stop(); });
  int code = kInfraError;
  main.run(run_to(program, code));
  main.node().close();
  return code;
}

}  // namespace

int doctor_of_program(const DoctorOptions& options) {
  find_program(options.program.front());  // an unknown one is told before anything starts
  const proc::RunPlaces places = proc::RunPlaces::here(base::random_hex(daemon::kRunIdDigits));
  return guarded(places,
                 [&](proc::Coordinator coordinator) { return coordinate(options, places, std::move(coordinator)); });
}

}  // namespace distrun::cli
