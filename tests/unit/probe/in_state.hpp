#pragma once
// A process in one of the states of fixtures/states.
#include <sys/types.h>

#include <string>
#include <vector>

#include <distrun/common/base/fd.hpp>

#include "fixtures/states.hpp"

namespace distrun::testing {

// Its whole process group is killed by the destructor.
class InState {
 public:
  // Returns when the process says that it is, or is about to be, in the state. `wrapper` is a command that runs it.
  explicit InState(const std::string& mode, fixtures::Build build = fixtures::Build::Plain,
                   std::vector<std::string> wrapper = {});
  ~InState();
  InState(const InState&) = delete;
  InState& operator=(const InState&) = delete;

  pid_t pid() const noexcept { return subject_; }
  // Waits until the kernel says that the main thread is in this state, and where in the kernel it sleeps, which it
  // knows a little later; false if that takes too long.
  bool reaches(char task_state, bool wchan = false) const;
  // The exit code; the process must end by itself.
  int wait();

 private:
  base::Fd output_;
  pid_t leader_ = 0;
  pid_t subject_ = 0;
};

}  // namespace distrun::testing
