#pragma once
// An epoll: which of many descriptors are ready. Descriptors are others'; each has a token that says what it is for.
// Any thread may add and remove; one waits.
#include <sys/epoll.h>

#include <array>
#include <cstdint>
#include <span>

#include <distrun/common/base/fd.hpp>

namespace distrun::agents::pipe {

// What a descriptor is for, and of these which one.
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
  // Throws Error{Failed} when descriptors run out.
  Poller();

  // Throws Error{Failed}.
  void add(int fd, std::uint32_t events, Token token);
  // Nothing happens for one that is not there: it may be closed already.
  void change(int fd, std::uint32_t events, Token token) noexcept;
  void remove(int fd) noexcept;

  // Until one is ready, or, without `sleeps`, only those that are. May return none. Good until the next call.
  std::span<const Polled> wait(bool sleeps) noexcept;

  void close() noexcept { epoll_.reset(); }

 private:
  static constexpr std::size_t kBatch = 64;

  base::Fd epoll_;
  std::array<Polled, kBatch> ready_;
};

}  // namespace distrun::agents::pipe
