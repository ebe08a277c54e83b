// distrun run --daemon: submits the run to the daemon and stays as its front end. The run writes directly to this
// terminal or pipe; user input such as Ctrl-C reaches it through the daemon.
#include <signal.h>
#include <unistd.h>

#include <boost/asio/signal_set.hpp>

#include <cstdio>
#include <memory>
#include <string>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/inherited.hpp>
#include <distrun/common/base/text.hpp>
#include <distrun/runner/daemon/address.hpp>
#include <distrun/runner/daemon/client.hpp>
#include <distrun/runner/daemon/submitted_run.hpp>
#include <distrun/runner/proc/guard.hpp>
#include <distrun/runner/proc/harmless_signals.hpp>
#include <distrun/runner/proc/pidfd.hpp>

#include "commands.hpp"
#include "exit_codes.hpp"
#include "terminal/keys.hpp"
#include "terminal/terminal.hpp"

namespace distrun::cli {
namespace {

// Time for a daemon to accept a run, and for a run to end after the user's request or the daemon's death.
constexpr auto kPatience = std::chrono::seconds(15);
constexpr int kSignalCode = 128;  // added to a signal's number, as in shells

class Face {
 public:
  Face(base::Fd socket, const wire::Submission& order);

  // Blocks until the run has ended. Returns its exit code.
  int stay();

 private:
  void wait_for_signal();
  void on_signal(int signal);
  void on_stop_signal();
  void on_waiting(int ahead);
  void on_started();
  void on_ended(const wire::RunEnded& ended);
  void on_lost();
  void on_patience_end();
  void erase_waiting();
  void leave(int exit_code, const std::string& why);

  io::Loop loop_;
  boost::asio::signal_set signals_;
  io::Alarm patience_;
  std::unique_ptr<Keys> keys_;
  std::unique_ptr<io::FdWatch> run_end_;  // set once the daemon is gone
  bool waiting_shown_ = false;
  bool lost_ = false;
  bool interrupted_ = false;
  int exit_code_ = kInfraError;
  std::string why_;
  daemon::SubmittedRun run_;
};

Face::Face(base::Fd socket, const wire::Submission& order)
    : signals_(loop_.context()),
      patience_(loop_, [this] { on_patience_end(); }),
      run_(loop_, std::move(socket), order,
           {[this](int ahead) { on_waiting(ahead); }, [this] { on_started(); },
            [this](const wire::RunEnded& ended) { on_ended(ended); },
            [this](const std::string& why) { leave(kInfraError, why); }, [this] { on_lost(); }}) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGWINCH}) {
    if (!base::is_ignored(signal)) signals_.add(signal);
  }
  patience_.set_after(kPatience);
  wait_for_signal();
}

int Face::stay() {
  loop_.run();
  keys_.reset();
  erase_waiting();
  if (!why_.empty()) std::fprintf(stderr, "distrun: %s\n", base::printable(why_).c_str());
  return exit_code_;
}

void Face::leave(int exit_code, const std::string& why) {
  exit_code_ = exit_code;
  why_ = why;
  loop_.stop();
}

void Face::wait_for_signal() {
  signals_.async_wait([this](const auto& error, int signal) {
    if (error) return;
    on_signal(signal);
    wait_for_signal();
  });
}

void Face::on_signal(int signal) {
  if (signal == SIGTSTP) return on_stop_signal();
  run_.signal(signal);
  if (!proc::is_interruption(signal) || interrupted_) return;
  interrupted_ = true;
  patience_.set_after(kPatience);
}

void Face::on_stop_signal() {
  run_.signal(SIGTSTP);
  if (keys_) keys_->give_back();
  ::raise(SIGSTOP);
  if (keys_) keys_->take();
  run_.signal(SIGCONT);
}

void Face::on_patience_end() {
  if (lost_) return leave(kInfraError, "the daemon has died, and its run has not ended");
  if (interrupted_) return leave(kInterrupted, "the daemon has not confirmed the end of the run; gave up waiting");
  if (!run_.accepted()) leave(kInfraError, "the daemon does not answer; it may be stopped; run without --daemon");
}

void Face::on_waiting(int ahead) {
  if (ahead == 0) return erase_waiting();
  const std::string text = "waiting: " + (ahead == 1 ? "1 run is" : std::to_string(ahead) + " runs are") + " ahead";
  if (errors_are_terminal()) {
    std::fprintf(stderr, "\r\x1b[K%s", text.c_str());
  } else if (!waiting_shown_) {
    std::fprintf(stderr, "%s\n", text.c_str());
  }
  waiting_shown_ = true;
}

void Face::erase_waiting() {
  if (waiting_shown_ && errors_are_terminal()) std::fputs("\r\x1b[K", stderr);
  waiting_shown_ = false;
}

void Face::on_started() {
  erase_waiting();
  keys_ = std::make_unique<Keys>(loop_, [this](char key) {
    if (key == 's') run_.signal(SIGQUIT);
  });
}

void Face::on_ended(const wire::RunEnded& ended) {
  if (ended.signal == 0) return leave(ended.exit_code, ended.why);
  const std::string killed =
      "the run was killed by signal " + std::to_string(ended.signal) + " (" + base::signal_name(ended.signal) + ")";
  leave(kSignalCode + ended.signal, ended.why.empty() ? killed : killed + ": " + ended.why);
}

// The kernel has signalled the run to end. It may still print until it does.
void Face::on_lost() {
  lost_ = true;
  const std::string why = "the daemon has died and ended the run";
  if (run_.pid() == 0) return leave(kInfraError, why);
  try {
    run_end_ =
        std::make_unique<io::FdWatch>(loop_, proc::open_pidfd(run_.pid()), [this, why] { leave(kInfraError, why); });
    patience_.set_after(kPatience);
  } catch (const Error&) {
    leave(kInfraError, why);  // it has ended already
  }
}

}  // namespace

int submit(const std::vector<std::string>& command_line) {
  const wire::Submission order = daemon::own_submission(command_line);
  wire::check(order);
  proc::ignore_harmless_signals();
  Face face(daemon::connect(daemon::socket_path()), order);
  return face.stay();
}

}  // namespace distrun::cli
