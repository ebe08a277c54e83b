#pragma once
// How a process ended.
#include <sys/wait.h>

#include <string>

namespace distrun::proc {

class ExitStatus {
 public:
  ExitStatus() = default;
  static ExitStatus from(const siginfo_t& info) noexcept;
  static ExitStatus of_code(int code) noexcept { return ExitStatus(code, 0); }
  static ExitStatus of_signal(int signal) noexcept { return ExitStatus(-1, signal); }

  bool exited() const noexcept { return signal_ == 0; }
  bool signaled() const noexcept { return signal_ != 0; }
  int code() const noexcept { return code_; }      // -1 if signaled
  int signal() const noexcept { return signal_; }  // 0 if exited
  bool clean() const noexcept { return exited() && code_ == 0; }
  // Returns "exited with code 3", "was killed by signal 11 (SIGSEGV)".
  std::string describe() const;

 private:
  ExitStatus(int code, int signal) : code_(code), signal_(signal) {}
  int code_ = 0;
  int signal_ = 0;
};

}  // namespace distrun::proc
