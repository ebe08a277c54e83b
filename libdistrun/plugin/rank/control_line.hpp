#pragma once
// The rank's side of the control socket, shared by all ranks that are threads of the process: frames carry the rank.
// Any thread sends; one listener thread always reads, so that the coordinator never waits for a rank. The listener also
// answers requests for stacks, without allocating, since the body may hang within malloc.
//
// Deaths: if the coordinator dies, the listener kills the rank's process group, including itself. If the test closes or
// shuts down the descriptor, the coordinator sees a lost rank at once: the listener waits with an epoll, which does not
// keep the socket open, unlike a thread within recv().
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

  // Returns false in a process that a test has forked: the line belongs to its parent, and its frames are dropped.
  bool is_ours() const noexcept { return ::getpid() == pid_; }

  template <class T>
  void send(wire::ControlFrame kind, std::int32_t rank, const T& message) {
    send_bytes(wire::pack(kind, static_cast<std::uint16_t>(rank), message));
  }
  // Blocks until the first order arrives. Ends the process if the coordinator ends first.
  wire::RunOrder receive_order();
  // Delivers frames to `inboxes` from now on: the inbox of the process's only rank, or one per rank, by rank number.
  // They must outlive the process's threads.
  void start_listening(std::vector<Inbox*> inboxes);
  // Called last by the thread that ends the process. When it returns, the listener has ended, unless that takes too
  // long. A process must not exit with two threads: the kernel may then consider the group of a stopped child orphaned
  // while its parent is still exiting, and kill it by SIGHUP, so that the leak scan would miss it.
  void stop_listening() noexcept;
  // Returns whether the coordinator has said that no debugger will attach any more.
  bool is_let_go() const noexcept { return let_go_; }

 private:
  // Blocks while the socket is full; does nothing if the connection is gone.
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
  base::Fd readable_;  // an epoll of socket_, for the listener
  const pid_t pid_ = ::getpid();
  std::uint16_t rank_ = 0;  // of the first order, from then on; coordinator_pid_, too
  int coordinator_pid_ = 0;
  std::atomic<bool> let_go_{false};
  std::atomic<bool> leaving_{false};
  std::atomic<pid_t> listener_{0};
  std::mutex sending_;  // one frame at a time
  wire::FrameSplitter splitter_{
      wire::kProtocol<wire::ControlFrame>};  // used by the reading thread: first the main one, then the listener
  std::vector<Inbox*> inboxes_;
};

}  // namespace distrun::rank
