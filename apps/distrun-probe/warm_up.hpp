#pragma once
// Reads the code of a process on a thread of its own, while the main thread takes the kernel's view and stops the
// processes: it unwinds threads that sleep, without stopping them, and drops their stacks. That opens and indexes the
// files that most stacks need. What it can't read is left to the main thread, which reports the reason.
#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include <distrun/common/base/clock.hpp>
#include <distrun/common/base/thread.hpp>
#include <distrun/common/wire/stacks.hpp>

#include "code_space.hpp"
#include "frame_table.hpp"

namespace distrun::probe {

class WarmUp {
 public:
  struct Code {
    std::string signature;
    std::unique_ptr<CodeSpace> space;  // null: it could not be read
  };

  // `table` must outlive this.
  explicit WarmUp(FrameTable& table) : table_(table) {}
  // Waits for the thread, at most until it has unwound the stack at hand.
  ~WarmUp() { static_cast<void>(finish()); }
  WarmUp(const WarmUp&) = delete;
  WarmUp& operator=(const WarmUp&) = delete;

  // Waits until all is read, at most this long. Returns whether it is.
  bool is_done_within(base::Milliseconds limit);
  // Begins with the threads of `process`, if it is the first one that can be read without delay, so that none of its
  // threads sleeps uninterruptibly. Until finish() nothing else may use the table, but for add_address().
  void begin(const wire::ProcessStacks& process);
  // Waits as the destructor does.
  Code finish();

 private:
  void run(const wire::ProcessStacks& process);

  FrameTable& table_;
  Code code_;
  std::atomic<bool> is_enough_{false};
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_done_ = true;  // guarded by mutex_
  std::optional<base::Thread> thread_;
};

}  // namespace distrun::probe
