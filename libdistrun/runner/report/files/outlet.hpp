#pragma once
// A descriptor that somebody else reads: a pipe, a terminal, a FIFO. The reader may be slow or have
// stopped (a pager, Ctrl-S), and the coordinator must go on watching its ranks meanwhile. So
// write() never waits: what the reader does not take now is kept and offered again later.
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <distrun/common/base/clock.hpp>

namespace distrun::report {

class Outlet {
 public:
  static constexpr std::size_t kPendingMax = 64U << 20U;  // bytes kept; more is the error ENOBUFS

  // `fd` is not owned and keeps its flags. SIGPIPE is the program's to ignore.
  explicit Outlet(int fd);

  void write(std::string_view text);
  // Offers again what was kept.
  void flush();
  // Waits until all is out. Gives up, with the error ETIMEDOUT, once nothing moved for `patience`.
  void drain(base::Milliseconds patience);

  // Bytes that the reader has not taken yet.
  std::size_t pending() const noexcept { return pending_.size(); }

  // The errno of the first failure, after which nothing is written; 0: none.
  int error() const noexcept { return error_; }
  // Nobody reads any more: a pipe is closed at its other end, or a terminal has hung up.
  bool reader_has_gone() const noexcept { return error_ == EPIPE || (error_ == EIO && is_device_); }
  // Bytes that will never be out, since there was a failure before them.
  std::uint64_t lost() const noexcept { return lost_; }

 private:
  void fail(int number);
  bool wait_writable(int timeout_ms) const;

  int fd_;
  bool regular_;    // never makes a writer wait
  bool is_device_;  // a terminal, for one
  std::string pending_;
  int error_ = 0;
  std::uint64_t lost_ = 0;
};

}  // namespace distrun::report
