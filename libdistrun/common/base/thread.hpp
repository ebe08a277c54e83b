#pragma once
// Threads as a seam. A Thread has a name that debuggers and stack reports show, and is joined by its destructor. It
// starts with all signals blocked (the main thread handles them) except stack_signal() and, if wanted, its own faults,
// which it handles on a separate stack. A forked process lacks its parent's threads and joins nothing.
#include <functional>
#include <string>
#include <thread>

#include <distrun/common/base/process_mark.hpp>

namespace distrun::base {

// Returns SIGRTMAX - 3, by which a process asks its threads for their stacks; no Thread blocks it.
int stack_signal() noexcept;

// How a thread treats fault signals. Blocked: from the first instruction on, a fault of this thread ends the process
// silently, and the thread takes no such signal that others send to the process.
enum class Faults { Handled, Blocked };

class Thread {
 public:
  Thread() = default;
  // `name` is cut to 15 characters, the kernel's limit. Throws Error{Overloaded} if none can be made, std::bad_alloc:
  // nothing has changed then.
  Thread(const std::string& name, std::function<void()> body, Faults faults = Faults::Handled);
  Thread(Thread&&) noexcept = default;
  Thread& operator=(Thread&&) = delete;
  ~Thread();

  bool joinable() const noexcept { return thread_.joinable(); }
  void join();
  // Lets the thread run until the process ends; for threads that serve only the process itself.
  void leave_running() { thread_.detach(); }

 private:
  std::thread thread_;
  ProcessMark mark_;
};

}  // namespace distrun::base
