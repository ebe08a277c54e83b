#pragma once
// A running engine: ssh, srun, a command of the user, or a node on this machine. Its output is kept, since it says why
// a node does not come. Its standard input begins with what it is given and then stays open: its end tells the node
// that this process is gone. Lives on: its loop. The destructor kills and reaps it.
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <distrun/runner/launch/output_pipe.hpp>
#include <distrun/runner/proc/exit_status.hpp>

namespace distrun::nodes {

class EngineProcess {
 public:
  // Starts `words` in a session without a terminal, so that it cannot ask. Calls `on_ended` once, after the output was
  // read; it may destroy this. Throws Error{Failed} if the program is not in PATH or cannot be started.
  EngineProcess(io::Loop& loop, const std::vector<std::string>& words, const std::string& input,
                std::function<void()> on_ended);
  ~EngineProcess();
  EngineProcess(const EngineProcess&) = delete;
  EngineProcess& operator=(const EngineProcess&) = delete;

  pid_t pid() const noexcept { return pid_; }
  bool has_ended() const noexcept { return has_ended_; }
  // Ends its standard input.
  void close_input() noexcept { input_.reset(); }
  // Signals it and its process group; does nothing once it has ended.
  void signal(int number) const noexcept;
  // Returns "ssh exited with code 255" once it has ended, else an empty text.
  std::string end_text() const;
  // Returns the last lines of its output: one line as it is, several each on a line that begins with "  | "; empty if
  // it has printed nothing.
  std::string last_words() const;

 private:
  void on_death();

  std::string name_;
  pid_t pid_ = 0;
  bool has_ended_ = false;
  proc::ExitStatus status_;
  std::function<void()> on_ended_;
  base::Fd input_;
  std::unique_ptr<launch::OutputPipe> output_;
  std::unique_ptr<io::FdWatch> death_;
};

}  // namespace distrun::nodes
