#pragma once
// The reading end of a child's stdout or stderr: keeps output up to a cap and passes it to a follower. Lives on: its
// loop.
#include <functional>
#include <memory>
#include <string_view>

#include <distrun/common/io/fd_watch.hpp>
#include <distrun/runner/proc/capture.hpp>

namespace distrun::launch {

class OutputPipe {
 public:
  OutputPipe(io::Loop& loop, base::Fd reading_end, std::size_t cap);

  // `on_bytes` gets all output from now on; it may call hold().
  void follow(std::function<void(std::string_view)> on_bytes) { on_bytes_ = std::move(on_bytes); }
  // Stops reading, so that the writer blocks, or resumes it. drain() reads in any case.
  void hold(bool hold);

  const proc::Capture& capture() const noexcept { return capture_; }
  // Reads what is there now, up to a limit, since a process left behind may write forever.
  void drain();
  // Drops the kept output.
  void forget() { capture_ = proc::Capture(cap_); }
  void close() { watch_.reset(); }

 private:
  void watch(base::Fd reading_end);
  int fd() const noexcept { return watch_ ? watch_->fd() : held_.get(); }
  bool read_some();

  io::Loop& loop_;
  std::size_t cap_;
  proc::Capture capture_;
  std::function<void(std::string_view)> on_bytes_ = [](std::string_view) {};
  // One of these is set until the end of the stream.
  std::unique_ptr<io::FdWatch> watch_;
  base::Fd held_;
};

}  // namespace distrun::launch
