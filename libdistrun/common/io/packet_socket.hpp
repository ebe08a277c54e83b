#pragma once
// The asynchronous side of a packet socket (common/wire/packet.hpp), for the coordinator. Lives on: its loop.
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <distrun/common/base/fd.hpp>
#include <distrun/common/io/fd_watch.hpp>
#include <distrun/common/wire/packet.hpp>

namespace distrun::io {

class PacketSocket {
 public:
  struct Handlers {
    std::function<void(wire::Packet)> on_packet;
    std::function<void()> on_closed;  // once
  };

  PacketSocket(Loop& loop, base::Fd socket, Handlers handlers);

  // Throws Error{Disconnected} if the peer is gone, Error{Overloaded} if it does not read.
  void send(wire::BytesView bytes, std::span<const int> fds = {});
  bool closed() const noexcept { return closed_; }
  // Handles what has already arrived: a peer's death may be seen before its last packets.
  void drain();

 private:
  void on_readable();
  bool take_one();

  Handlers handlers_;
  bool closed_ = false;
  std::unique_ptr<FdWatch> watch_;
};

}  // namespace distrun::io
