#pragma once
// Owned file descriptors. Everything is close-on-exec from birth.
#include <utility>

namespace distrun::base {

// Closes its descriptor once. Movable, not copyable; -1 is empty.
class Fd {
 public:
  Fd() noexcept = default;
  explicit Fd(int fd) noexcept : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(other.release()) {}
  Fd& operator=(Fd&& other) noexcept {
    if (this != &other) reset(other.release());
    return *this;
  }
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  ~Fd() { reset(); }

  int get() const noexcept { return fd_; }
  explicit operator bool() const noexcept { return fd_ >= 0; }
  int release() noexcept { return std::exchange(fd_, -1); }
  void reset(int fd = -1) noexcept;

 private:
  int fd_ = -1;
};

struct FdPair {
  Fd first;
  Fd second;
};

// `first` reads, `second` writes. Throws Error{Failed} when descriptors run out.
FdPair make_pipe();
// Connected Unix sockets; `type` is SOCK_STREAM or SOCK_SEQPACKET.
FdPair make_socket_pair(int type);
void set_nonblocking(int fd, bool on = true);
// Descriptors 0 to 2 that are closed become /dev/null, so that no file of ours gets their number. First of all in main.
void open_standard_descriptors();

}  // namespace distrun::base
