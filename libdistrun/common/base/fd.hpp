#pragma once
// Owned file descriptors, all close-on-exec from creation.
#include <utility>

namespace distrun::base {

// Owns a descriptor and closes it once. Movable, not copyable; -1 is empty.
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

// `first` reads, `second` writes. Throws Error{Failed} if no descriptor is left.
FdPair make_pipe();
// Returns connected Unix sockets; `type` is SOCK_STREAM or SOCK_SEQPACKET.
FdPair make_socket_pair(int type);
void set_nonblocking(int fd, bool on = true);
// Opens /dev/null for closed ones of the descriptors 0 to 2, so that no file gets their numbers. Call it first in
// main().
void open_standard_descriptors();

}  // namespace distrun::base
