#pragma once
// Notifies at once when another process ends, regardless of its parent and before it is reaped. One thread waits for
// all watched processes; it exists while there are any, and sleeps until one ends. A forked process has no such thread,
// so nothing is notified there.
#include <cstdint>
#include <functional>
#include <memory>

namespace distrun::core {

// While it lives, calls `call` once when the process ends: on that thread, so `call` must be quick and must not destroy
// a ProcessEnd; or in the constructor, if the process has ended already. The destructor waits for a running call.
class ProcessEnd {
 public:
  ProcessEnd(int pid, std::function<void()> call);
  ~ProcessEnd();
  ProcessEnd(const ProcessEnd&) = delete;
  ProcessEnd& operator=(const ProcessEnd&) = delete;

  // Returns false if `call` will not be called: descriptors or threads are missing, or this is a forked process. The
  // caller must then poll.
  bool is_told() const noexcept;

 private:
  class Watcher;
  static std::shared_ptr<Watcher> watcher();

  std::shared_ptr<Watcher> watcher_;
  std::uint64_t number_ = 0;  // 0: not watched
  bool was_gone_ = false;
};

}  // namespace distrun::core
