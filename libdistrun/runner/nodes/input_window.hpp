#pragma once
// Standard input of a program's rank, on its way from distrun to the rank on another host. As for output
// (output_window.hpp), no more than a window is on its way: distrun reads ahead of the rank by that, and by what a pipe
// holds. Lives on: the loop of its side.
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include <distrun/common/io/fd_watch.hpp>

namespace distrun::nodes {

inline constexpr std::size_t kInputWindow = 64 << 10;  // bytes

// On the coordinator.
class InputSource {
 public:
  // Reads `fd`, which stays the caller's, from now on. `send` gets what was read, and an empty text at the end. Throws
  // Error{Failed} if there are not enough descriptors.
  InputSource(io::Loop& loop, int fd, std::function<void(std::string bytes)> send);

  // Opens the window by the bytes that the rank's pipe has taken. Throws Error{InvalidArgument} if that is more than
  // was sent.
  void confirm(std::uint64_t bytes);

 private:
  void read_on();
  void read_some();
  bool is_open() const noexcept { return !has_ended_ && unconfirmed_ < kInputWindow; }

  io::Loop& loop_;
  const std::function<void(std::string bytes)> send_;
  base::Fd fd_;
  bool never_blocks_ = false;  // a file: it cannot be watched
  std::uint64_t unconfirmed_ = 0;
  bool has_ended_ = false;
  std::unique_ptr<io::FdWatch> watch_;  // while the window is open
};

// On the node of the rank. The program must ignore SIGPIPE.
class InputPipe {
 public:
  // `confirm` is called with the number of bytes that the rank's pipe has taken. Throws Error{Failed} if there are not
  // enough descriptors.
  InputPipe(io::Loop& loop, std::function<void(std::uint64_t bytes)> confirm);

  // Standard input of the rank, until it has started.
  int rank_end() const noexcept { return rank_end_.get(); }
  void close_rank_end() noexcept { rank_end_.reset(); }
  // Hands bytes on to the rank; none: the end. What comes after the rank has closed its end is dropped. Throws
  // Error{InvalidArgument} for more than a window, and after the end.
  void add(std::string_view bytes);

 private:
  void write_some();

  const std::function<void(std::uint64_t bytes)> confirm_;
  base::Fd rank_end_;
  std::unique_ptr<io::FdWatch> writing_end_;  // null: closed
  std::string pending_;
  bool waits_ = false;  // until it is writable
  bool has_ended_ = false;
};

}  // namespace distrun::nodes
