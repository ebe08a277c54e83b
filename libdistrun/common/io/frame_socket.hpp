#pragma once
// Frames over a stream socket, on the coordinator's side. Lives on: its loop.
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
    // Called once, when the peer closed ("closed") or sent an invalid frame. No frame follows.
    std::function<void(std::string why)> on_closed;
    // Called before each read, with the size of the frame that has arrived in part (0: not known yet). If it returns
    // false, nothing more is read until resume(), so that the peer waits. Empty: reads always.
    std::function<bool(std::size_t frame_bytes)> may_read = {};
    // Called when the peer has taken bytes that were queued for it.
    std::function<void()> on_taken = {};
  };
  // Limits of a peer's cost. The defaults are those of a rank's control line.
  struct Limits {
    std::size_t payload_max = wire::kFramePayloadMax;    // of a frame from the peer
    std::size_t queue_max = 2 * wire::kFramePayloadMax;  // bytes queued for the peer
    std::size_t descriptors_max = 0;                     // in total from the peer; more ends the connection
  };

  FrameSocket(Loop& loop, base::Fd socket, const wire::Protocol& protocol, Handlers handlers);
  FrameSocket(Loop& loop, base::Fd socket, const wire::Protocol& protocol, Handlers handlers, const Limits& limits);

  // Sends what the socket takes now and queues the rest. Throws Error{Overloaded}, and sends nothing of the frame, if
  // the queue is full (the peer does not read). Does nothing once closed.
  void send(wire::Bytes packed);
  // Handles what has already arrived, for example before judging the sender's death. Does not block.
  void drain();
  // Reads again after `may_read` has returned false.
  void resume();
  // Returns how many bytes are queued for the peer.
  std::size_t queued() const noexcept { return queue_bytes_ - sent_of_first_; }
  bool closed() const noexcept { return closed_; }
  // Returns the descriptors that have arrived and were not taken yet, in order. Throws Error{Overloaded} if some were
  // lost because this process has too many open.
  std::vector<base::Fd> take_descriptors();

 private:
  enum class ReadResult { Some, Nothing, End };
  void on_readable();
  bool may_read();
  ssize_t receive(std::span<std::byte> buffer);
  ReadResult read_once();
  ReadResult read_or_close();
  void deliver();
  void close(std::string why);
  void write_some();
  void write_more();

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
  // Last, so that its handlers are destroyed first.
  std::unique_ptr<FdWatch> watch_;
};

}  // namespace distrun::io
