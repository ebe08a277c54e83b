#pragma once
// Wraps an epoll instance. Does not own the descriptors. Any thread may add and remove; one thread waits.
//
// Why the pipe does not use io::Loop (common/io):
//   - Any thread adds, changes and removes descriptors, which belong to links. Those of a loop belong to its watches,
//     and are touched by its thread only.
//   - After an arrival the I/O thread polls for a while without sleeping (io_thread.cpp). A loop always sleeps.
//   - An event costs one epoll_wait(), and says whether the peer has closed its end. A loop needs another wait for each
//     event, puts it into a queue, and does not report that end.
#include <sys/epoll.h>

#include <array>
#include <cstdint>
#include <span>

#include <distrun/common/base/fd.hpp>

namespace distrun::agents::pipe {

// The purpose of a descriptor, and a number that distinguishes descriptors of one purpose.
enum class PollKind : std::uint8_t { Wake, Timer, ListenUds, ListenTcp, Incoming, Outgoing, Watched };
struct Token {
  PollKind kind = PollKind::Wake;
  std::uint64_t number = 0;  // 56 bits
};

struct Polled {
  Token token;
  std::uint32_t events = 0;
};

class Poller {
 public:
  // Throws Error{Failed} if no descriptor is left.
  Poller();

  // Throws Error{Failed}.
  void add(int fd, std::uint32_t events, Token token);
  // Do nothing for a descriptor that is not watched: it may be closed already.
  void change(int fd, std::uint32_t events, Token token) noexcept;
  void remove(int fd) noexcept;

  // Blocks until a descriptor is ready, or, unless `sleeps`, returns at once. Valid until the next call.
  std::span<const Polled> wait(bool sleeps) noexcept;

  void close() noexcept { epoll_.reset(); }

 private:
  static constexpr std::size_t kBatch = 64;

  base::Fd epoll_;
  std::array<Polled, kBatch> ready_;
};

}  // namespace distrun::agents::pipe
