#pragma once
// The connection between a coordinator and one node once both have proved that they know the run's secret: frames both
// ways in order, and the knowledge whether the other side is alive. Made by Listener and dial(). Lives on: its loop.
//
// Two kinds of silence. The kernel of a living host confirms what it receives, within milliseconds, even if
// its processes are stopped. So if a ping is not confirmed and nothing else comes for `host_silent`, the host or the
// network between is gone: known within 0.9 s. A process that does not run (SIGSTOP, a debugger, a machine
// that is overloaded) sends no bytes although its host confirms; it gets `process_silent`, since a false alarm costs a
// run, and a late one seconds. A process that ends closes its connection, which is known at once.
//
// Silence is counted in looks, one each `look_every`. A look that comes late, since this process itself did not run,
// counts as one: so no peer is lost because this side was stopped.
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <distrun/common/base/fd.hpp>
#include <distrun/common/io/loop.hpp>
#include <distrun/common/wire/frame.hpp>
#include <distrun/common/wire/node.hpp>
#include <distrun/runner/nodes/clock_offset.hpp>

namespace distrun::nodes {

struct LinkSettings {
  base::Nanoseconds look_every = std::chrono::milliseconds(100);
  base::Nanoseconds ping_after = std::chrono::milliseconds(200);  // without another frame sent
  base::Nanoseconds host_silent = std::chrono::milliseconds(600);
  base::Nanoseconds process_silent = std::chrono::seconds(5);
  std::size_t payload_max = wire::kFramePayloadMax;    // of a frame from the peer
  std::size_t queue_max = 2 * wire::kFramePayloadMax;  // bytes queued for the peer
};

class Link {
 public:
  struct Handlers {
    // Gets every frame of the peer but pings and their answers. An Error that it throws ends the link: the peer has
    // sent nonsense.
    std::function<void(const wire::Frame&)> on_frame;
    // Called once, with the reason: "closed", "silent for 600.0 ms: ...", "sent nonsense: ...". No frame follows.
    std::function<void(const std::string& why)> on_lost;
  };

  // `socket` is connected by TCP, and the handshake is over.
  Link(io::Loop& loop, base::Fd socket, const LinkSettings& settings = {});
  // Closes the connection, without a call of on_lost.
  ~Link();
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  // Handlers run on the loop, never in a call to this, and may destroy the link. Without handlers, at first or if these
  // are empty, frames and a loss wait for the next ones; a peer that then sends many is lost.
  void follow(Handlers handlers);

  // Sends what the socket takes now and queues the rest. Throws Error{Overloaded}, and sends nothing of the frame, if
  // the queue is full. Does nothing once the link is lost.
  void send(wire::Bytes packed);
  template <class Message>
  void send(wire::NodeFrame kind, std::uint16_t rank, const Message& message) {
    send(wire::pack(kind, rank, message));
  }
  bool is_lost() const noexcept;
  // Returns how far the peer's monotonic clock is ahead of this one; nothing before the first answer to a ping.
  std::optional<Offset> offset() const;
  // The numeric addresses of both ends: "10.77.1.2".
  const std::string& local_address() const noexcept;
  const std::string& peer_address() const noexcept;

 private:
  class State;
  std::shared_ptr<State> state_;
};

}  // namespace distrun::nodes
