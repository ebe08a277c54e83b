#pragma once
// What each thread waits for: first the kernel's view of all processes, before anything is stopped; then, once a thread
// has a stack, its functions and the memory of its futex say more. Main thread only.
#include <sys/types.h>

#include <chrono>
#include <exception>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <distrun/common/base/thread.hpp>
#include <distrun/common/wire/stacks.hpp>
#include <distrun/runner/evidence/waits/connections.hpp>
#include <distrun/runner/evidence/waits/wakers.hpp>

#include "capture.hpp"
#include "frame_table.hpp"
#include "holders.hpp"

namespace distrun::probe {

class Observer {
 public:
  // Begins to read the kernel's view of these processes, which takes about this time at most: their connections, on a
  // thread of its own.
  void begin(const std::vector<pid_t>& pids, std::chrono::milliseconds limit);
  // Reads the rest. Threads that are left at the end of the time are not looked at.
  void look();
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

  std::chrono::steady_clock::time_point end_{};
  evidence::Connections connections_;           // read by the thread, until it ends
  std::exception_ptr why_none_;                 // the same
  std::optional<base::Thread> reading_;         // before look()
  std::map<pid_t, wire::ObservedWait> seen_;    // by thread
  std::map<std::uint32_t, std::string> names_;  // by frame
  std::map<pid_t, Traits> traits_;              // by process
  bool cut_ = false;
};

}  // namespace distrun::probe
