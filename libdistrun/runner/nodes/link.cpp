#include <distrun/runner/nodes/link.hpp>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cerrno>
#include <new>
#include <utility>
#include <vector>

#include <distrun/common/base/error.hpp>
#include <distrun/common/io/frame_socket.hpp>
#include <distrun/runner/nodes/link_messages.hpp>
#include <distrun/runner/nodes/silence.hpp>
#include <distrun/runner/nodes/tcp_state.hpp>

namespace distrun::nodes {
namespace {

using wire::NodeFrame;

constexpr std::size_t kEarlyFramesMax = 64;            // before follow()
constexpr auto kOffsetAge = std::chrono::seconds(1);   // pings also a busy link, for the offset of clocks
constexpr auto kTick = std::chrono::milliseconds(10);  // of the kernel's times

std::int64_t ns_of(base::TimePoint time) { return time.time_since_epoch().count(); }

// Returns whether reading failed with the text of an error of the network, not because of what the peer sent.
bool is_of_network(const std::string& why) {
  for (const int number : {ETIMEDOUT, EHOSTUNREACH, ENETUNREACH, ENETDOWN, EPIPE, ECONNABORTED, EHOSTDOWN}) {
    if (why == base::errno_text(number)) return true;
  }
  return why == "closed" || why == "no memory";
}

io::FrameSocket::Limits limits_of(const LinkSettings& settings) {
  io::FrameSocket::Limits limits;
  limits.payload_max = settings.payload_max;
  limits.queue_max = settings.queue_max;
  return limits;
}

}  // namespace

// Outlives its link while one of its handlers runs.
class Link::State {
 public:
  State(io::Loop& loop, base::Fd socket, const LinkSettings& settings);

  void follow(Handlers handlers);
  void send(wire::Bytes packed);
  bool is_lost() const noexcept { return is_lost_; }
  std::optional<Offset> offset() const { return offset_.at(loop_.clock().now()); }
  // The link is destroyed. Keeps `self` until the frame that is being handled is done.
  void abandon(std::shared_ptr<State> self);

  const std::string local_address;
  const std::string peer_address;

 private:
  void on_frame(const wire::Frame& frame);
  void dispatch(const wire::Frame& frame);
  void answer(const Ping& ping);
  void take(const Pong& pong);
  void look();
  void judge();
  void ping_if_due(base::TimePoint now);
  void lose(std::string why);
  void hand_over();

  io::Loop& loop_;
  const LinkSettings settings_;
  const int fd_;  // owned by socket_, valid until the link is lost
  std::shared_ptr<const Handlers> handlers_;
  std::vector<wire::Frame> early_;
  int depth_ = 0;  // of calls that handle a frame
  bool is_lost_ = false;
  std::string why_lost_;
  base::TimePoint looked_at_;
  base::TimePoint sent_at_;
  base::TimePoint pinged_at_;
  bool has_frame_ = false;  // one has come since the last look
  std::uint64_t received_ = 0;
  Silence host_;
  Silence process_;
  ClockOffset offset_;
  io::Alarm look_alarm_;
  io::Alarm hand_over_alarm_;  // early frames, and the loss
  std::unique_ptr<io::FrameSocket> socket_;
};

Link::State::State(io::Loop& loop, base::Fd socket, const LinkSettings& settings)
    : local_address(local_address_of(socket.get())),
      peer_address(peer_address_of(socket.get())),
      loop_(loop),
      settings_(settings),
      fd_(socket.get()),
      looked_at_(loop.clock().now()),
      sent_at_(looked_at_),
      host_(settings.host_silent, settings.look_every),
      process_(settings.process_silent, settings.look_every),
      look_alarm_(loop, [this] { look(); }),
      hand_over_alarm_(loop, [this] { hand_over(); }) {
  const int on = 1;
  ::setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  socket_ = std::make_unique<io::FrameSocket>(
      loop, std::move(socket), wire::kProtocol<NodeFrame>,
      io::FrameSocket::Handlers{
          [this](const wire::Frame& frame) { on_frame(frame); },
          [this](std::string why) { lose(is_of_network(why) ? std::move(why) : "sent nonsense: " + why); }},
      limits_of(settings));
  look_alarm_.set(looked_at_ + settings.look_every);
}

void Link::State::follow(Handlers handlers) {
  handlers_ = handlers.on_frame ? std::make_shared<const Handlers>(std::move(handlers)) : nullptr;
  if (handlers_ == nullptr) return;
  if (is_lost_ || !early_.empty()) hand_over_alarm_.set(loop_.clock().now());
}

void Link::State::send(wire::Bytes packed) {
  if (is_lost_) return;
  socket_->send(std::move(packed));
  sent_at_ = loop_.clock().now();
}

void Link::State::abandon(std::shared_ptr<State> self) {
  is_lost_ = true;
  look_alarm_.cancel();
  hand_over_alarm_.cancel();
  early_.clear();
  handlers_.reset();
  if (depth_ == 0) return;
  if (!socket_->closed()) ::shutdown(fd_, SHUT_RDWR);
  loop_.post([kept = std::move(self)] {});
}

void Link::State::on_frame(const wire::Frame& frame) {
  if (is_lost_) return;
  has_frame_ = true;
  ++depth_;
  try {
    dispatch(frame);
  } catch (...) {
    --depth_;
    throw;
  }
  --depth_;
}

void Link::State::dispatch(const wire::Frame& frame) {
  if (frame.is(NodeFrame::Ping)) return answer(wire::decode<Ping>(wire::view_of(frame.payload)));
  if (frame.is(NodeFrame::Pong)) return take(wire::decode<Pong>(wire::view_of(frame.payload)));
  if (handlers_ != nullptr && early_.empty()) {
    const auto handlers = handlers_;
    return handlers->on_frame(frame);
  }
  if (handlers_ == nullptr && early_.size() >= kEarlyFramesMax)
    throw Error(ErrorKind::Overloaded, "it does not wait for answers");
  early_.push_back(frame);
}

// A full queue is no reason to lose the peer here: it does not read, so it will be silent.
void Link::State::answer(const Ping& ping) {
  const std::int64_t now = ns_of(loop_.clock().now());
  try {
    send(wire::pack(NodeFrame::Pong, 0, Pong{ping.sent_ns, now, ns_of(loop_.clock().now())}));
  } catch (const Error&) {
  }
}

void Link::State::take(const Pong& pong) {
  offset_.add({pong.ping_sent_ns, pong.received_ns, pong.sent_ns, ns_of(loop_.clock().now())});
}

void Link::State::look() {
  const base::TimePoint now = loop_.clock().now();
  const auto state = tcp_state_of(fd_);
  const bool has_bytes = state && state->received != received_;
  if (state) received_ = state->received;
  process_.count(std::exchange(has_frame_, false) || has_bytes);
  host_.count(!state || !state->expects_answer || state->since_heard <= now - looked_at_ + kTick);
  looked_at_ = now;
  judge();
  if (is_lost_) return;
  ping_if_due(now);
  look_alarm_.set_after(settings_.look_every);
}

// The peer that is about to be lost may have sent something that has not been read.
void Link::State::judge() {
  if (!host_.is_too_long() && !process_.is_too_long()) return;
  socket_->drain();
  if (is_lost_ || has_frame_) return;
  if (host_.is_too_long()) return lose(host_.text() + ": its host or the network does not answer");
  lose(process_.text() + ": its process does not run, but its host answers");
}

void Link::State::ping_if_due(base::TimePoint now) {
  if (now - sent_at_ < settings_.ping_after && now - pinged_at_ < kOffsetAge) return;
  pinged_at_ = now;
  try {
    send(wire::pack(NodeFrame::Ping, 0, Ping{ns_of(loop_.clock().now())}));
  } catch (const Error&) {
  }
}

void Link::State::lose(std::string why) {
  if (std::exchange(is_lost_, true)) return;
  why_lost_ = std::move(why);
  look_alarm_.cancel();
  if (!socket_->closed()) ::shutdown(fd_, SHUT_RDWR);
  if (handlers_ != nullptr) hand_over_alarm_.set(loop_.clock().now());
}

// Hands over early frames, then the loss. Each call may destroy the link.
void Link::State::hand_over() {
  ++depth_;
  try {
    for (const wire::Frame& frame : std::exchange(early_, {})) {
      if (const auto handlers = handlers_) handlers->on_frame(frame);
    }
  } catch (const Error& error) {
    lose(std::string("sent nonsense: ") + error.what());
  } catch (const std::bad_alloc&) {
    lose("no memory");
  }
  --depth_;
  const auto handlers = handlers_;
  if (is_lost_ && handlers != nullptr) handlers->on_lost(why_lost_);
}

Link::Link(io::Loop& loop, base::Fd socket, const LinkSettings& settings)
    : state_(std::make_shared<State>(loop, std::move(socket), settings)) {}

Link::~Link() { state_->abandon(state_); }

void Link::follow(Handlers handlers) { state_->follow(std::move(handlers)); }
void Link::send(wire::Bytes packed) { state_->send(std::move(packed)); }
bool Link::is_lost() const noexcept { return state_->is_lost(); }
std::optional<Offset> Link::offset() const { return state_->offset(); }
const std::string& Link::local_address() const noexcept { return state_->local_address; }
const std::string& Link::peer_address() const noexcept { return state_->peer_address; }

}  // namespace distrun::nodes
