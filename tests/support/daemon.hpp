#pragma once
// A daemon of a test's own, and clients of it.
#include <memory>
#include <string>
#include <vector>

#include "sandbox.hpp"

namespace distrun::testing {

class Daemon {
 public:
  // Starts `program`, which is distrund, and waits until it answers. Throws std::runtime_error if it does not.
  explicit Daemon(std::string program, std::vector<std::string> options = {});
  // Kills it if it runs.
  ~Daemon() = default;

  void start();
  // SIGKILL; the next can be started when this returns.
  void kill();
  // SIGTERM.
  Ended stop();
  // By itself.
  Ended wait(milliseconds limit) { return running_->wait(limit); }
  pid_t pid() const { return running_->pid(); }
  std::string socket() const { return scratch_.path() + "/daemon.sock"; }
  // What `distrund --status` prints.
  std::string status() const;
  bool shows(const std::string& text) const { return status().find(text) != std::string::npos; }

  // distrun in a sandbox, with this daemon. With `--daemon` among the arguments it is a client.
  Command command(const Sandbox& sandbox, std::vector<std::string> arguments) const;
  Running start(const Sandbox& sandbox, std::vector<std::string> arguments) const {
    return Running(command(sandbox, std::move(arguments)));
  }

 private:
  Command own_command(std::vector<std::string> arguments) const;

  Scratch scratch_;
  Sandbox sandbox_;  // its own: no run's mark is on it
  std::vector<std::string> options_;
  std::unique_ptr<Running> running_;
};

}  // namespace distrun::testing
