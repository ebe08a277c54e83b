#pragma once
// Frames over a stream socket, the coordinator's end. Lives on: its loop.
#include <deque>
#include <functional>
#include <memory>
#include <string>

#include <distrun/base/fd.hpp>
#include <distrun/io/fd_watch.hpp>
#include <distrun/wire/frame.hpp>

namespace distrun::io {

class FrameSocket {
 public:
  struct Handlers {
    std::function<void(wire::Frame)> on_frame;
    // Once: the peer closed ("closed") or sent what is no frame. Nothing more comes after it.
    std::function<void(std::string why)> on_closed;
  };
  // Bytes that may wait to be sent; one frame of the largest size always fits.
  static constexpr std::size_t kQueueMax = 2 * wire::kFramePayloadMax;

  FrameSocket(Loop& loop, base::Fd socket, Handlers handlers);

  // Sends now what the socket takes and queues the rest. Throws Error{Overloaded} if the queue is full
  // (the peer doesn't read); nothing of the frame is sent then. Silent once closed.
  void send(wire::Bytes packed);
  // Handles what has arrived, at once: before the sender's death is judged, say. Doesn't block.
  void drain();
  bool closed() const noexcept { return closed_; }

 private:
  enum class ReadResult { Some, Nothing, End };
  void on_readable();
  ReadResult read_once();
  void deliver();
  void close(std::string why);
  void write_some();

  Handlers handlers_;
  wire::FrameSplitter splitter_;
  std::deque<wire::Bytes> queue_;
  std::size_t queue_bytes_ = 0;
  std::size_t sent_of_first_ = 0;
  bool closed_ = false;
  bool waiting_to_write_ = false;
  // Last, so that its handlers go first.
  std::unique_ptr<FdWatch> watch_;
};

}  // namespace distrun::io
