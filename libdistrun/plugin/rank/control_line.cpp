#include <distrun/plugin/rank/control_line.hpp>

#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/fd.hpp>
#include <distrun/plugin/rank/stack_dump.hpp>
#include <distrun/plugin/rank/stacks_frame.hpp>

namespace distrun::rank {
namespace {

// Ends the rank and its process group: without a coordinator, there is no result to report.
[[noreturn]] void end_with_coordinator() {
  ::kill(0, SIGKILL);
  ::_exit(1);
}

// Waits until the coordinator has ended. The kernel closes a process's descriptors before it reparents its children. So
// if the line ends while the coordinator is still the parent, either the coordinator is dying, or the test has shut the
// line down, and the coordinator judges a lost rank. Returns at once if waiting is impossible (no descriptor left).
void end_after(pid_t coordinator) {
  const base::Fd ended(static_cast<int>(::syscall(SYS_pidfd_open, coordinator, 0)));
  if (!ended && errno != ESRCH) return;
  pollfd end{ended.get(), POLLIN, 0};
  while (::getppid() == coordinator && ::poll(&end, 1, -1) < 0 && errno == EINTR) {
  }
  end_with_coordinator();
}

constexpr auto kSendPatience = std::chrono::milliseconds(100);  // for another thread to finish its frame
constexpr auto kLeavePatience = std::chrono::milliseconds(50);  // for the listener to end

bool asks_for_stacks(const std::byte* bytes, std::size_t size) {
  std::uint16_t kind = 0;
  if (size != wire::kFrameHeaderSize) return false;
  std::memcpy(&kind, bytes + sizeof(std::uint32_t), sizeof kind);
  return kind == static_cast<std::uint16_t>(wire::ControlFrame::DumpStacks);
}

// Without a descriptor for the epoll, works as if it were not needed.
base::Fd epoll_of(int socket) {
  base::Fd readable(::epoll_create1(EPOLL_CLOEXEC));
  epoll_event input{};
  input.events = EPOLLIN | EPOLLRDHUP;
  if (readable && ::epoll_ctl(readable.get(), EPOLL_CTL_ADD, socket, &input) != 0) readable.reset();
  return readable;
}

}  // namespace

void ControlLine::send_bytes(const wire::Bytes& bytes) {
  if (!is_ours()) return;  // do not touch the lock either: a thread of the parent may have held it
  const std::lock_guard lock(sending_);
  send_all(bytes.data(), bytes.size());
}

void ControlLine::send_all(const std::byte* at, std::size_t left) {
  while (left > 0) {
    const ssize_t sent = ::send(socket_.get(), at, left, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) return;  // the listener sees the end, too, and handles it
    at += sent;
    left -= static_cast<std::size_t>(sent);
  }
}

// Sends nothing if a thread is stuck in the middle of a frame: the stream could not be parsed.
void ControlLine::send_stacks() {
  const auto frame = answer_with_stacks(rank_);
  const auto until = std::chrono::steady_clock::now() + kSendPatience;
  std::unique_lock lock(sending_, std::try_to_lock);
  while (!lock && std::chrono::steady_clock::now() < until) {
    ::sched_yield();
    static_cast<void>(lock.try_lock());
  }
  if (lock) send_all(frame.data(), frame.size());
}

// Waits for the coordinator's data or end; the coordinator kills a rank that times out.
ssize_t ControlLine::receive(std::span<std::byte> buffer) {
  if (!readable_) return ::recv(socket_.get(), buffer.data(), buffer.size(), 0);
  epoll_event event{};
  if (::epoll_wait(readable_.get(), &event, 1, -1) < 1) return -1;
  if (leaving_) {
    errno = ECANCELED;
    return -1;
  }
  return ::recv(socket_.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
}

// Returns nullopt if the descriptor was closed by the test.
std::optional<wire::Frame> ControlLine::read_frame() {
  std::array<std::byte, 16 << 10> buffer;
  for (;;) {
    if (auto frame = splitter_.next()) return frame;
    const ssize_t got = receive(buffer);
    if (got > 0 && splitter_.pending() == 0 && asks_for_stacks(buffer.data(), static_cast<std::size_t>(got))) {
      send_stacks();  // here rather than after the splitter, which allocates
    } else if (got > 0) {
      splitter_.feed(wire::view_of(buffer.data(), static_cast<std::size_t>(got)));
    } else if (got == 0 || errno == ECONNRESET) {
      if (coordinator_pid_ == 0) end_with_coordinator();
      return std::nullopt;
    } else if (errno != EINTR && errno != EAGAIN) {
      return std::nullopt;
    }
  }
}

wire::RunOrder ControlLine::receive_order() {
  const auto frame = read_frame();
  if (!frame) end_with_coordinator();
  if (!frame->is(wire::ControlFrame::Run)) {
    throw Error(ErrorKind::Failed, "the coordinator sent frame " + std::to_string(static_cast<int>(frame->kind)) +
                                       " before the run order");
  }
  rank_ = frame->rank;
  auto order = wire::decode<wire::RunOrder>(wire::view_of(frame->payload));
  coordinator_pid_ = order.coordinator_pid;
  return order;
}

void ControlLine::start_listening(std::vector<Inbox*> inboxes) {
  inboxes_ = std::move(inboxes);
  readable_ = epoll_of(socket_.get());
  // Runs until stop_listening(), just before the process ends. Signals sent to the process go to the test's threads.
  base::Thread(
      "distrun-listen", [this] { listen(); }, base::Faults::Blocked)
      .leave_running();
}

void ControlLine::listen() {
  listener_ = ::gettid();
  try {
    while (const auto frame = read_frame()) handle(*frame);
  } catch (const Error&) {
    // The coordinator's frames are always valid; if one is not, this rank cannot continue.
    end_with_coordinator();
  }
  if (leaving_) return;
  for (Inbox* inbox : inboxes_) inbox->disconnect();
  end_after(coordinator_pid_);
}

void ControlLine::stop_listening() noexcept {
  const pid_t listener = listener_;
  if (!is_ours() || listener == 0 || listener == ::gettid() || !readable_) return;
  leaving_ = true;
  epoll_event wake{};
  wake.events = EPOLLIN | EPOLLOUT;  // writable at once, so the listener wakes
  if (::epoll_ctl(readable_.get(), EPOLL_CTL_MOD, socket_.get(), &wake) != 0) return;
  const auto until = std::chrono::steady_clock::now() + kLeavePatience;
  while (::syscall(SYS_tgkill, pid_, listener, 0) == 0 && std::chrono::steady_clock::now() < until) ::sched_yield();
}

// Throws Error if that rank is not in this process.
Inbox& ControlLine::inbox_of(const wire::Frame& frame) {
  if (inboxes_.size() == 1) return *inboxes_.front();
  if (frame.rank >= inboxes_.size()) {
    throw Error(ErrorKind::Failed, "the coordinator sent a frame for rank " + std::to_string(frame.rank));
  }
  return *inboxes_[frame.rank];
}

void ControlLine::handle(const wire::Frame& frame) {
  const wire::BytesView payload = wire::view_of(frame.payload);
  Inbox& inbox = inbox_of(frame);
  switch (frame.kind_as<wire::ControlFrame>()) {
    case wire::ControlFrame::Run: inbox.put(wire::decode<wire::RunOrder>(payload)); break;
    case wire::ControlFrame::Dismiss: inbox.dismiss(); break;
    case wire::ControlFrame::PeerFailed: inbox.put(wire::decode<wire::PeerFailed>(payload)); break;
    case wire::ControlFrame::BarrierRelease: inbox.put(wire::decode<wire::BarrierRelease>(payload)); break;
    case wire::ControlFrame::Finish: let_go_ = true; break;
    case wire::ControlFrame::PeerDied: inbox.put(wire::decode<wire::PeerDied>(payload)); break;
    case wire::ControlFrame::PeerFinished: inbox.put(wire::decode<wire::PeerFinished>(payload)); break;
    case wire::ControlFrame::Message: take_message(frame, inbox); break;
    case wire::ControlFrame::DumpStacks: send_stacks(); break;
    default: break;
  }
}

void ControlLine::take_message(const wire::Frame& frame, Inbox& inbox) {
  auto message = wire::decode<wire::RankMessage>(wire::view_of(frame.payload));
  const std::int32_t from = message.from;
  const std::string tag = message.tag;
  const std::int32_t to = message.to;
  if (inbox.put(std::move(message))) return;
  wire::ErrorReport error;
  error.type = "Overloaded";
  error.text = "a message \"" + tag + "\" from rank " + std::to_string(from) +
               " was dropped: " + std::to_string(Inbox::kBytesMax >> 20) +
               " MiB of messages are queued here and not received";
  send(wire::ControlFrame::Error, to, error);
}

}  // namespace distrun::rank
