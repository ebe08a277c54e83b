#pragma once
// The signal of the file size limit. A write() or ftruncate() beyond RLIMIT_FSIZE raises SIGXFSZ, which ends the
// process unless it is ignored. The limit also applies to memory files (memfd_create), so that a process with a small
// limit would die when it creates a group. A signal's disposition belongs to the whole process, and so to the user's
// test; the mask belongs to the thread.
#include <signal.h>

namespace distrun::base {

// While it exists, a write of this thread beyond the limit fails with EFBIG and raises no signal. Preserves errno.
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
