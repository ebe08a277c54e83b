#pragma once
// A lister or a zygote as the coordinator sees it: a program with captured output; its end is reported. Lives on: its
// loop. The destructor kills and reaps it.
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <distrun/runner/launch/output_pipe.hpp>
#include <distrun/runner/proc/exit_status.hpp>

namespace distrun::launch {

class HelperProcess {
 public:
  struct Spec {
    std::string program;
    std::vector<std::string> arguments;
    std::vector<std::string> environment;
    int line = -1;  // becomes descriptor 3
    int dump = -1;  // becomes descriptor 4; -1: none
  };

  // Calls `on_ended` once, after the output was read. Throws Error if it cannot be started.
  HelperProcess(io::Loop& loop, const Spec& spec, std::function<void(proc::ExitStatus)> on_ended);
  ~HelperProcess();

  pid_t pid() const noexcept { return pid_; }
  bool ended() const noexcept { return ended_; }
  // Kills its whole process group.
  void kill() noexcept;
  // Returns the end of its output for the text of an error; empty if it printed nothing.
  std::string last_words() const;

 private:
  void on_death();

  pid_t pid_ = 0;
  bool ended_ = false;
  std::function<void(proc::ExitStatus)> on_ended_;
  std::unique_ptr<OutputPipe> out_;
  std::unique_ptr<OutputPipe> err_;
  std::unique_ptr<io::FdWatch> death_;
};

}  // namespace distrun::launch
