#pragma once
// Runs programs as real processes: starts and signals them, waits for them with a deadline, finds them in /proc.
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
  std::vector<std::string> environment{};  // complete, "NAME=value"
  std::string directory = ".";
  std::string capture{};                 // standard output and error go to this path + ".out", ".err"
  std::optional<int> standard_output{};  // takes standard output instead; -1: closed
};

struct Ended {
  int exit_code = -1;  // -1: killed by a signal
  int signal = 0;
  bool out_of_time = false;  // killed at the deadline
  milliseconds duration{};
  std::string out;
  std::string err;
};

// A running program in a separate process group. The destructor kills it unless wait() was called.
class Running {
 public:
  // Throws std::runtime_error if it cannot be started.
  explicit Running(Command command);
  Running(Running&& other) noexcept;
  Running& operator=(Running&&) = delete;
  ~Running();

  pid_t pid() const noexcept { return pid_; }
  void signal(int number) const;
  // Returns true if the program ends within `limit`; does not reap it.
  bool ends_within(milliseconds limit) const;
  // Waits for the program; kills it after `limit`.
  Ended wait(milliseconds limit);

 private:
  Command command_;
  std::chrono::steady_clock::time_point started_;
  pid_t pid_ = 0;
  int pidfd_ = -1;
};

// Sleeps.
void pause_for(milliseconds length);
// Polls until the answer is true or `limit` is over; returns the last answer.
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
// Returns all live processes, without zombies.
std::vector<ProcessInfo> living_processes();
// Returns whether the process was started with "NAME=value" in its environment.
bool has_environment(pid_t pid, const std::string& entry);
// Returns the value of NAME in that environment; empty if it is not set.
std::string environment_of(pid_t pid, const std::string& name);
std::vector<pid_t> children_of(pid_t pid);
bool is_alive(pid_t pid);

}  // namespace distrun::testing
