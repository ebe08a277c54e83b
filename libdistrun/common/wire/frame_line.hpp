#pragma once
// Frames over a blocking stream socket, for helpers that have no loop. One thread receives; each send() is whole.
#include <optional>

#include <distrun/common/base/fd.hpp>
#include <distrun/common/wire/frame.hpp>

namespace distrun::wire {

class FrameLine {
 public:
  FrameLine(base::Fd socket, const Protocol& protocol) noexcept : socket_(std::move(socket)), splitter_(protocol) {}

  // Waits for the next frame. Returns nullopt if the peer has closed the line. Throws like FrameSplitter::next().
  std::optional<Frame> receive();
  // Returns the next frame if it has been received already, with one before it.
  std::optional<Frame> received() { return splitter_.next(); }
  // Throws Error{Disconnected} if the peer is gone.
  void send(const Bytes& packed);

  int fd() const noexcept { return socket_.get(); }

 private:
  base::Fd socket_;
  FrameSplitter splitter_;
};

// The descriptor on which the coordinator gives a helper its line.
inline constexpr int kHelperLine = 3;

// Takes that descriptor. Returns nullopt if it is no socket: a user has started the helper.
std::optional<base::Fd> take_helper_line();

}  // namespace distrun::wire
