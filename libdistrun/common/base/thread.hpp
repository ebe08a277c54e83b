#pragma once
// Threads as a seam. A Thread has a name that debuggers and stack reports show, starts with all signals blocked (the
// main thread handles them) but stack_signal() and, if wanted, those of its own faults, which it handles on a stack of
// their own, and is joined by its destructor. A forked process has none of its parent's threads: there is nothing to
// join.
#include <functional>
#include <string>
#include <thread>

#include <distrun/common/base/process_mark.hpp>

namespace distrun::base {

// SIGRTMAX - 3: with it a process asks its threads for their stacks, so no Thread blocks it.
int stack_signal() noexcept;

// What a thread does with the signals of faults. Blocked from the first instruction on, they end the process by a fault
// of the thread without a word, and none that others send to the process is taken by it.
enum class Faults { Handled, Blocked };

class Thread {
 public:
  Thread() = default;
  // `name` is cut to 15 characters, the kernel's limit. Throws Error{Overloaded} if none can be made.
  Thread(const std::string& name, std::function<void()> body, Faults faults = Faults::Handled);
  Thread(Thread&&) noexcept = default;
  Thread& operator=(Thread&&) = delete;
  ~Thread();

  bool joinable() const noexcept { return thread_.joinable(); }
  void join();
  // The thread goes on until the process ends; for threads that only serve the process itself.
  void leave_running() { thread_.detach(); }

 private:
  std::thread thread_;
  ProcessMark mark_;
};

}  // namespace distrun::base
