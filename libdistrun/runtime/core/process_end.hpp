#pragma once
// Tells at once when another process ends, whoever its parent is, and though nobody has reaped it. One thread waits for
// all that are watched, and is there while some are; it sleeps until one ends. A fork of the process has no such
// thread: there nothing is told.
#include <cstdint>
#include <functional>
#include <memory>

namespace distrun::core {

// While it lives, `call` is called once when the process ends: by that thread, so it must be quick and destroy none of
// these; or by the constructor, if the process is gone already. A call that runs ends before the destructor returns.
class ProcessEnd {
 public:
  ProcessEnd(int pid, std::function<void()> call);
  ~ProcessEnd();
  ProcessEnd(const ProcessEnd&) = delete;
  ProcessEnd& operator=(const ProcessEnd&) = delete;

  // False: nothing will be told, for want of descriptors or threads, or in a fork. Whoever waits must look.
  bool is_told() const noexcept;

 private:
  class Watcher;
  static std::shared_ptr<Watcher> watcher();

  std::shared_ptr<Watcher> watcher_;
  std::uint64_t number_ = 0;  // 0: none
  bool was_gone_ = false;
};

}  // namespace distrun::core
