#pragma once
// The reading end of a child's stdout or stderr, kept within a cap. Lives on: its loop.
#include <memory>

#include <distrun/io/fd_watch.hpp>
#include <distrun/proc/capture.hpp>

namespace distrun::launch {

class OutputPipe {
 public:
  OutputPipe(io::Loop& loop, base::Fd reading_end, std::size_t cap);

  const proc::Capture& capture() const noexcept { return capture_; }
  // Reads what is there now, within a bound, since a process left behind may write for ever.
  void drain();
  // What was kept is dropped.
  void forget() { capture_ = proc::Capture(cap_); }
  void close() { watch_.reset(); }

 private:
  bool read_some();

  std::size_t cap_;
  proc::Capture capture_;
  std::unique_ptr<io::FdWatch> watch_;
};

}  // namespace distrun::launch
