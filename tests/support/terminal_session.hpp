#pragma once
// A program that leads a session on a terminal of its own, as `ssh -t` starts one.
#include <memory>
#include <string>

#include "process.hpp"

namespace distrun::testing {

class TerminalSession {
 public:
  // What the program writes goes to the terminal, which is read by read_some() alone. Throws std::runtime_error if
  // there are no terminals.
  explicit TerminalSession(const Command& command);
  TerminalSession(const TerminalSession&) = delete;
  TerminalSession& operator=(const TerminalSession&) = delete;
  // Kills the program if nobody waited for it.
  ~TerminalSession();

  pid_t pid() const noexcept { return pid_; }
  // What it has written up to now; does not wait.
  std::string read_some();
  void type(const std::string& keys) const;
  // The terminal is gone from now on.
  void hang_up();
  // As Running::wait(), without its output.
  Ended wait(milliseconds limit);

 private:
  pid_t pid_ = 0;
  int terminal_ = -1;  // our end
};

}  // namespace distrun::testing
