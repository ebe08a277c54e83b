#pragma once
// A descriptor with a foreign reader: a pipe, a terminal, a FIFO. The reader may be slow or stopped (a pager, Ctrl-S),
// and the coordinator must keep watching its ranks meanwhile. So write() never blocks: data that the reader does not
// take now is kept and offered again later.
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <distrun/common/base/clock.hpp>

namespace distrun::report {

class Outlet {
 public:
  static constexpr std::size_t kPendingMax = 64U << 20U;  // bytes kept; exceeding it is the error ENOBUFS

  // `fd` is not owned and keeps its flags. The program must ignore SIGPIPE.
  explicit Outlet(int fd);

  void write(std::string_view text);
  // Offers the pending data again.
  void flush();
  // Blocks until everything is written. Gives up with the error ETIMEDOUT after `patience` without progress.
  void drain(base::Milliseconds patience);

  // Returns the number of bytes that the reader has not taken yet.
  std::size_t pending() const noexcept { return pending_.size(); }

  // Returns the errno of the first failure, after which nothing is written; 0: none.
  int error() const noexcept { return error_; }
  // Returns true if the other end of the pipe is closed, or the terminal has hung up.
  bool reader_has_gone() const noexcept { return error_ == EPIPE || (error_ == EIO && is_device_); }
  // Returns the number of bytes dropped because of a failure.
  std::uint64_t lost() const noexcept { return lost_; }

 private:
  void fail(int number);
  bool wait_writable(int timeout_ms) const;

  int fd_;
  bool regular_;    // never blocks a writer
  bool is_device_;  // such as a terminal
  std::string pending_;
  int error_ = 0;
  std::uint64_t lost_ = 0;
};

}  // namespace distrun::report
