#pragma once
// Frames over a stream socket, the coordinator's end. Lives on: its loop.
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/fd.hpp>
#include <distrun/common/io/fd_watch.hpp>
#include <distrun/common/wire/frame.hpp>

namespace distrun::io {

class FrameSocket {
 public:
  struct Handlers {
    std::function<void(wire::Frame)> on_frame;
    // Once: the peer closed ("closed") or sent what is no frame. Nothing more comes after it.
    std::function<void(std::string why)> on_closed;
  };
  // What a peer may cost. As they stand: a rank's line.
  struct Limits {
    std::size_t payload_max = wire::kFramePayloadMax;    // of a frame that it sends
    std::size_t queue_max = 2 * wire::kFramePayloadMax;  // bytes that may wait for it
    std::size_t descriptors_max = 0;                     // that it may send along in all; more ends the connection
  };

  FrameSocket(Loop& loop, base::Fd socket, const wire::Protocol& protocol, Handlers handlers);
  FrameSocket(Loop& loop, base::Fd socket, const wire::Protocol& protocol, Handlers handlers, const Limits& limits);

  // Sends now what the socket takes and queues the rest. Throws Error{Overloaded} if the queue is full
  // (the peer doesn't read); nothing of the frame is sent then. Silent once closed.
  void send(wire::Bytes packed);
  // Handles what has arrived, at once: before the sender's death is judged, say. Doesn't block.
  void drain();
  bool closed() const noexcept { return closed_; }
  // Those that have come along and were not taken yet, in their order. Throws Error{Overloaded} if some were lost since
  // this process has too many open.
  std::vector<base::Fd> take_descriptors();

 private:
  enum class ReadResult { Some, Nothing, End };
  void on_readable();
  ssize_t receive(std::span<std::byte> buffer);
  ReadResult read_once();
  void deliver();
  void close(std::string why);
  void write_some();

  Handlers handlers_;
  Limits limits_;
  wire::FrameSplitter splitter_;
  std::vector<base::Fd> descriptors_;
  std::size_t descriptors_count_ = 0;
  std::optional<base::Error> descriptors_lost_;
  std::deque<wire::Bytes> queue_;
  std::size_t queue_bytes_ = 0;
  std::size_t sent_of_first_ = 0;
  bool closed_ = false;
  bool waiting_to_write_ = false;
  // Last, so that its handlers go first.
  std::unique_ptr<FdWatch> watch_;
};

}  // namespace distrun::io
