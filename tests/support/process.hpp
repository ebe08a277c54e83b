#pragma once
// Programs as real processes: started, signalled, waited for under a deadline, and looked for in /proc.
#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace distrun::testing {

using std::chrono::milliseconds;

struct Command {
  std::string program;
  std::vector<std::string> arguments{};
  std::vector<std::string> environment{};  // all of it, "NAME=value"
  std::string directory = ".";
  std::string capture{};                 // standard output and error go to this path + ".out", ".err"
  std::optional<int> standard_output{};  // goes here instead; -1: it is closed
};

struct Ended {
  int exit_code = -1;  // -1: killed by a signal
  int signal = 0;
  bool out_of_time = false;  // it was killed because the deadline had come
  milliseconds duration{};
  std::string out;
  std::string err;
};

// A program that runs, in a process group of its own. Killed by the destructor if nobody waited for it.
class Running {
 public:
  // Throws std::runtime_error if it cannot be started.
  explicit Running(Command command);
  Running(Running&& other) noexcept;
  Running& operator=(Running&&) = delete;
  ~Running();

  pid_t pid() const noexcept { return pid_; }
  void signal(int number) const;
  // True if it has ended by then; it is not reaped.
  bool ends_within(milliseconds limit) const;
  // Waits; kills it when `limit` is over.
  Ended wait(milliseconds limit);

 private:
  Command command_;
  std::chrono::steady_clock::time_point started_;
  pid_t pid_ = 0;
  int pidfd_ = -1;
};

// Waits without doing anything.
void pause_for(milliseconds length);
// Asks until the answer is true or `limit` is over; the last answer.
template <class Question>
bool eventually(milliseconds limit, Question question) {
  const auto end = std::chrono::steady_clock::now() + limit;
  while (!question()) {
    if (std::chrono::steady_clock::now() >= end) return question();
    pause_for(milliseconds(2));
  }
  return true;
}

struct ProcessInfo {
  pid_t pid = 0;
  pid_t parent = 0;
  pid_t group = 0;
  pid_t session = 0;
  char state = '?';
  std::string name;

  std::string describe() const;
};
// All processes that are alive; zombies are not.
std::vector<ProcessInfo> living_processes();
// Whether "NAME=value" is in the environment that the process was started with.
bool has_environment(pid_t pid, const std::string& entry);
// The value of NAME there; empty if it is not set.
std::string environment_of(pid_t pid, const std::string& name);
std::vector<pid_t> children_of(pid_t pid);
bool is_alive(pid_t pid);

}  // namespace distrun::testing
