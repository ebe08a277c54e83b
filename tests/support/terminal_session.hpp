#pragma once
// A program that leads a session on a separate terminal, as `ssh -t` starts one.
#include <memory>
#include <string>

#include "process.hpp"

namespace distrun::testing {

class TerminalSession {
 public:
  // The program writes to the terminal, which only read_some() reads. Throws std::runtime_error if there are no
  // terminals.
  explicit TerminalSession(const Command& command);
  TerminalSession(const TerminalSession&) = delete;
  TerminalSession& operator=(const TerminalSession&) = delete;
  // Kills the program unless wait() was called.
  ~TerminalSession();

  pid_t pid() const noexcept { return pid_; }
  // Returns the output so far; does not wait.
  std::string read_some();
  void type(const std::string& keys) const;
  // Hangs up the terminal.
  void hang_up();
  // Like Running::wait(), without the output.
  Ended wait(milliseconds limit);

 private:
  pid_t pid_ = 0;
  int terminal_ = -1;  // master side
};

}  // namespace distrun::testing
