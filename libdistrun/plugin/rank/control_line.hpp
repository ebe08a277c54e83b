#pragma once
// The end of the control socket in the process of a rank, or of several that are its threads: frames carry the rank's
// number. Any thread sends; one listener thread reads all the time, so that the coordinator never waits for a rank,
// whatever the rank's body does. It also answers requests for stacks, without allocating, since the body may hang
// within malloc.
//
// Deaths: when the coordinator dies, the listener kills the rank's process group, itself included. When the test
// closes or shuts down our descriptor, the coordinator sees a lost rank, at once: the listener waits by way of an
// epoll, which does not keep the socket open, as a thread within recv() would.
#include <unistd.h>

#include <atomic>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include <distrun/common/base/fd.hpp>
#include <distrun/common/base/thread.hpp>
#include <distrun/common/wire/frame.hpp>
#include <distrun/plugin/rank/inbox.hpp>

namespace distrun::rank {

class ControlLine {
 public:
  // Owns `socket`, a blocking stream socket.
  explicit ControlLine(base::Fd socket) : socket_(std::move(socket)) {}

  // Not so in a process that a test has forked: the line is its parent's, and what it sends goes nowhere.
  bool is_ours() const noexcept { return ::getpid() == pid_; }

  template <class T>
  void send(wire::ControlFrame kind, std::int32_t rank, const T& message) {
    send_bytes(wire::pack(kind, static_cast<std::uint16_t>(rank), message));
  }
  // Waits for the first order, on the calling thread. Ends the process if the coordinator goes first.
  wire::RunOrder receive_order();
  // `inboxes` get what arrives from now on: the one of the process's rank, or that of each rank of the world, by its
  // number. They must outlive the process's threads.
  void start_listening(std::vector<Inbox*> inboxes);
  // By the thread that ends the process, last of all: the listener is gone when this returns, unless that takes too
  // long. A process must not end with two threads at once: the kernel may then take the group of a stopped child for an
  // orphaned one while its parent still ends, and kill it by SIGHUP, so that nobody finds what the rank has left.
  void stop_listening() noexcept;
  // Whether the coordinator has said that no debugger is going to come, or come back.
  bool is_let_go() const noexcept { return let_go_; }

 private:
  // Blocks while the socket is full; silent if the connection is gone.
  void send_bytes(const wire::Bytes& bytes);
  void send_all(const std::byte* at, std::size_t left);
  void send_stacks();
  ssize_t receive(std::span<std::byte> buffer);
  std::optional<wire::Frame> read_frame();
  void listen();
  void handle(const wire::Frame& frame);
  void take_message(const wire::Frame& frame, Inbox& inbox);
  Inbox& inbox_of(const wire::Frame& frame);

  base::Fd socket_;
  base::Fd readable_;  // of the listener: an epoll of socket_
  const pid_t pid_ = ::getpid();
  std::uint16_t rank_ = 0;  // of the first order; this and the next: from then on
  int coordinator_pid_ = 0;
  std::atomic<bool> let_go_{false};
  std::atomic<bool> leaving_{false};
  std::atomic<pid_t> listener_{0};
  std::mutex sending_;  // one frame at a time
  wire::FrameSplitter splitter_{
      wire::kProtocol<wire::ControlFrame>};  // of whichever thread reads: first the main one, then the listener
  std::vector<Inbox*> inboxes_;
};

}  // namespace distrun::rank
