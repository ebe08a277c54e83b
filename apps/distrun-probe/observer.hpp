#pragma once
// What each thread waits for: first the kernel's view of all processes, before anything is stopped; then, once a thread
// has a stack, its functions and the memory of its futex say more. Main thread only.
#include <sys/types.h>

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include <distrun/common/wire/stacks.hpp>
#include <distrun/runner/evidence/waits/wakers.hpp>

#include "capture.hpp"
#include "frame_table.hpp"
#include "holders.hpp"

namespace distrun::probe {

class Observer {
 public:
  // Reads the kernel's view of these processes within about this time. Threads that are left then are not looked at.
  void look(const std::vector<pid_t>& pids, std::chrono::milliseconds limit);
  // Sets the waits of the process's threads to the kernel's view.
  void fill(wire::ProcessStacks& process);
  // Completes the wait of a thread of `process` that has a stack.
  void complete(const wire::ProcessStacks& process, const Capture& capture, const FrameTable& table,
                wire::ThreadStack& thread);
  // Returns whether owners of the process's locks cannot be known, since it is in a container.
  bool has_other_ids(pid_t pid) { return traits_of(pid).has_other_ids; }
  // Call once the waits of all threads of the process are complete.
  void complete(const FrameTable& table, wire::ProcessStacks& process);

 private:
  struct Traits {
    evidence::Wakers wakers;
    bool has_other_ids = false;
  };

  NamedStack name(const wire::ThreadStack& thread, const FrameTable& table);
  const std::string& name(std::uint32_t frame, const FrameTable& table);
  const Traits& traits_of(pid_t pid);
  // Opens the wait if a timer or a signal handler of its process may end it.
  void open_if_woken(pid_t pid, wire::ObservedWait& wait);

  std::map<pid_t, wire::ObservedWait> seen_;    // by thread
  std::map<std::uint32_t, std::string> names_;  // by frame
  std::map<pid_t, Traits> traits_;              // by process
  bool cut_ = false;
};

}  // namespace distrun::probe
