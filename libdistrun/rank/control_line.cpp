#include <distrun/rank/control_line.hpp>

#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

#include <distrun/base/error.hpp>

namespace distrun::rank {
namespace {

// Nobody is left to judge this rank; whatever it has started in its group ends with it.
[[noreturn]] void end_with_coordinator() {
  ::kill(0, SIGKILL);
  ::_exit(1);
}

}  // namespace

void ControlLine::send_bytes(const wire::Bytes& bytes) {
  const std::lock_guard lock(sending_);
  const std::byte* at = bytes.data();
  std::size_t left = bytes.size();
  while (left > 0) {
    const ssize_t sent = ::send(socket_.get(), at, left, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) return;  // the listener sees the end as well and acts on it
    at += sent;
    left -= static_cast<std::size_t>(sent);
  }
}

// Empty when the descriptor was closed under us.
std::optional<wire::Frame> ControlLine::read_frame() {
  std::array<std::byte, 16 << 10> buffer;
  for (;;) {
    if (auto frame = splitter_.next()) return frame;
    const ssize_t got = ::recv(socket_.get(), buffer.data(), buffer.size(), 0);
    if (got > 0) {
      splitter_.feed(wire::view_of(buffer.data(), static_cast<std::size_t>(got)));
    } else if (got == 0 || errno == ECONNRESET) {
      // The test may have shut the socket down. Then the coordinator lives, and judges a lost rank.
      if (coordinator_pid_ == 0 || ::getppid() != coordinator_pid_) end_with_coordinator();
      return std::nullopt;
    } else if (errno != EINTR) {
      return std::nullopt;
    }
  }
}

wire::RunOrder ControlLine::receive_order() {
  const auto frame = read_frame();
  if (!frame) end_with_coordinator();
  if (frame->kind != wire::FrameKind::Run) {
    throw Error(ErrorKind::Failed, "the coordinator sent frame " + std::to_string(static_cast<int>(frame->kind)) +
                                       " before the order to run");
  }
  rank_ = frame->rank;
  auto order = wire::decode<wire::RunOrder>(wire::view_of(frame->payload));
  coordinator_pid_ = order.coordinator_pid;
  inbox_.emplace(order.world_size);
  return order;
}

void ControlLine::start_listening() {
  // Runs to the end of the process, which the main thread brings about with _exit.
  base::Thread("distrun-listen", [this] { listen(); }).leave_running();
}

void ControlLine::listen() {
  try {
    while (const auto frame = read_frame()) handle(*frame);
  } catch (const Error&) {
    // What the coordinator sends is always readable; if it is not, this rank cannot be led any further.
    end_with_coordinator();
  }
  inbox_->disconnect();
}

void ControlLine::handle(const wire::Frame& frame) {
  const wire::BytesView payload = wire::view_of(frame.payload);
  switch (frame.kind) {
    case wire::FrameKind::PeerFailed: inbox_->put(wire::decode<wire::PeerFailed>(payload)); break;
    case wire::FrameKind::BarrierRelease: inbox_->put(wire::decode<wire::BarrierRelease>(payload)); break;
    case wire::FrameKind::PeerFinished: inbox_->put(wire::decode<wire::PeerFinished>(payload)); break;
    case wire::FrameKind::Message: take_message(frame); break;
    default: break;
  }
}

void ControlLine::take_message(const wire::Frame& frame) {
  auto message = wire::decode<wire::RankMessage>(wire::view_of(frame.payload));
  const std::int32_t from = message.from;
  const std::string tag = message.tag;
  if (inbox_->put(std::move(message))) return;
  wire::ErrorReport error;
  error.type = "Overloaded";
  error.text = "a message \"" + tag + "\" from rank " + std::to_string(from) + " was dropped: " +
               std::to_string(Inbox::kBytesMax >> 20) + " MiB of messages wait here that nobody receives";
  send(wire::FrameKind::Error, error);
}

}  // namespace distrun::rank
