#pragma once
// The signal of the limit of file sizes. A write, or ftruncate(), beyond RLIMIT_FSIZE ends the process by SIGXFSZ
// unless it ignores that signal. The limit counts for memory files (memfd_create), too: a process that may write small
// files only would die of making a group. The disposition of a signal belongs to the whole process, and so to the
// user's test; the mask belongs to the thread.
#include <signal.h>

namespace distrun::base {

// While it lives, a write of the thread beyond the limit fails with EFBIG, without a signal. Keeps errno.
class NoFileSizeSignal {
 public:
  NoFileSizeSignal() noexcept;
  ~NoFileSizeSignal();
  NoFileSizeSignal(const NoFileSizeSignal&) = delete;
  NoFileSizeSignal& operator=(const NoFileSizeSignal&) = delete;

 private:
  bool was_blocked_;
};

}  // namespace distrun::base
