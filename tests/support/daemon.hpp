#pragma once
// A private daemon for one test, and its clients.
#include <memory>
#include <string>
#include <vector>

#include "sandbox.hpp"

namespace distrun::testing {

class Daemon {
 public:
  // Starts `program` (distrund) and waits until it answers. Throws std::runtime_error if it does not.
  explicit Daemon(std::string program, std::vector<std::string> options = {});
  // Kills the daemon if it is running.
  ~Daemon() = default;

  void start();
  // Sends SIGKILL; the next daemon can be started when this returns.
  void kill();
  // Sends SIGTERM.
  Ended stop();
  // Waits for the daemon to exit without a signal.
  Ended wait(milliseconds limit) { return running_->wait(limit); }
  pid_t pid() const { return running_->pid(); }
  std::string socket() const { return scratch_.path() + "/daemon.sock"; }
  // Returns the output of `distrund --status`.
  std::string status() const;
  bool shows(const std::string& text) const { return status().find(text) != std::string::npos; }

  // Returns a distrun command in the sandbox that uses this daemon. With `--daemon` among the arguments it is a client.
  Command command(const Sandbox& sandbox, std::vector<std::string> arguments) const;
  Running start(const Sandbox& sandbox, std::vector<std::string> arguments) const {
    return Running(command(sandbox, std::move(arguments)));
  }

 private:
  Command own_command(std::vector<std::string> arguments) const;

  Scratch scratch_;
  Sandbox sandbox_;  // the daemon's sandbox: it carries no run's mark
  std::vector<std::string> options_;
  std::unique_ptr<Running> running_;
};

}  // namespace distrun::testing
