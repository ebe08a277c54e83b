#pragma once
// A process in one of the states of fixtures/states.
#include <sys/types.h>

#include <string>
#include <vector>

#include <distrun/common/base/fd.hpp>

#include "fixtures/states.hpp"

namespace distrun::testing {

// The destructor kills its whole process group.
class InState {
 public:
  // Returns when the process reports that it is in the state or about to enter it. `wrapper` is a command that runs it.
  explicit InState(const std::string& mode, fixtures::Build build = fixtures::Build::Plain,
                   std::vector<std::string> wrapper = {});
  ~InState();
  InState(const InState&) = delete;
  InState& operator=(const InState&) = delete;

  pid_t pid() const noexcept { return subject_; }
  // Waits until the kernel reports this state of the main thread, and with `wchan` where it sleeps in the kernel, which
  // is known a little later; returns false if that takes too long.
  bool reaches(char task_state, bool wchan = false) const;
  // Waits for the process to exit; returns its exit code.
  int wait();

 private:
  base::Fd output_;
  pid_t leader_ = 0;
  pid_t subject_ = 0;
};

}  // namespace distrun::testing
