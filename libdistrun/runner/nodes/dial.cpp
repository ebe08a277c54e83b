#include <distrun/runner/nodes/dial.hpp>

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <optional>
#include <utility>

#include <distrun/common/base/deadline.hpp>
#include <distrun/common/base/error.hpp>
#include <distrun/common/base/text.hpp>
#include <distrun/common/store_server/tcp_address.hpp>
#include <distrun/runner/nodes/greeting.hpp>
#include <distrun/runner/nodes/patient_socket.hpp>

namespace distrun::nodes {
namespace {

using namespace std::chrono_literals;
using base::TimePoint;

constexpr base::Nanoseconds kRoundLength = 5s;         // until addresses that do not answer are tried again
constexpr base::Nanoseconds kHandshakePatience = 10s;  // more than the coordinator's
constexpr base::Nanoseconds kFirstRest = 50ms;         // between two rounds
constexpr base::Nanoseconds kLastRest = 500ms;
constexpr std::size_t kAttemptsMax = 64;  // at once
constexpr std::size_t kAnswerMax = 64 << 10;

// A connection that is being made.
struct Attempt {
  std::string place;
  base::Fd socket;
};

// A failure is final if the peer has proved that it knows the secret, or clearly does not know it.
struct Failure {
  std::string why;
  bool is_final = false;
};

class Dialing {
 public:
  explicit Dialing(const DialSettings& settings)
      : settings_(settings), begin_(now()), deadline_(begin_ + settings.patience) {}

  // Returns a socket that has joined.
  base::Fd run() {
    base::Nanoseconds rest = kFirstRest;
    for (;;) {
      if (base::Fd socket = try_once()) return socket;
      const bool is_final =
          std::any_of(failures_.begin(), failures_.end(), [](const auto& each) { return each.second.is_final; });
      if (is_final || now() >= deadline_) fail(is_final);
      wait({}, std::min(deadline_, base::deadline_after(rest, now())));
      rest = std::min(2 * rest, kLastRest);
    }
  }

 private:
  static TimePoint now() { return base::system_clock().now(); }

  base::Fd try_once() {
    const TimePoint end = std::min(deadline_, now() + kRoundLength);
    std::vector<Attempt> attempts = begin_attempts();
    while (!attempts.empty() && now() < end) {
      const std::size_t at = wait(attempts, end);
      if (at == attempts.size()) break;
      Attempt attempt = std::move(attempts[at]);
      attempts.erase(attempts.begin() + static_cast<std::ptrdiff_t>(at));
      if (base::Fd socket = finish(std::move(attempt))) return socket;
    }
    // The last try may be short: an earlier one knows more.
    for (const Attempt& attempt : attempts) failures_.try_emplace(attempt.place, Failure{"it does not answer"});
    return {};
  }

  std::vector<Attempt> begin_attempts() {
    std::vector<Attempt> attempts;
    for (const Place& place : settings_.places) {
      try {
        for (const stores::TcpAddress& address : stores::resolve(place.host, place.port)) {
          if (attempts.size() < kAttemptsMax) begin_attempt(text_of(place), address, attempts);
        }
      } catch (const Error& error) {
        failures_[text_of(place)] = {error.what()};
      }
    }
    return attempts;
  }

  void begin_attempt(const std::string& place, const stores::TcpAddress& address, std::vector<Attempt>& attempts) {
    base::Fd socket = stores::make_tcp_socket(address.family());
    if (::connect(socket.get(), address.get(), address.size) != 0 && errno != EINPROGRESS) {
      failures_[place] = {base::errno_text(errno)};
      return;
    }
    attempts.push_back({place, std::move(socket)});
  }

  // Returns the index of an attempt that is decided; their number at `end`.
  std::size_t wait(const std::vector<Attempt>& attempts, TimePoint end) const {
    std::vector<pollfd> entries;
    for (const Attempt& attempt : attempts) entries.push_back({attempt.socket.get(), POLLOUT, 0});
    entries.push_back({settings_.give_up, POLLIN, 0});
    const int ready = ::poll(entries.data(), entries.size(), left_ms(end));
    if (ready > 0 && entries.back().revents != 0) throw_gave_up();
    const auto decided =
        std::find_if(entries.begin(), entries.end() - 1, [](const pollfd& entry) { return entry.revents != 0; });
    return static_cast<std::size_t>(decided - entries.begin());
  }

  base::Fd finish(Attempt attempt) {
    int number = 0;
    socklen_t size = sizeof number;
    ::getsockopt(attempt.socket.get(), SOL_SOCKET, SO_ERROR, &number, &size);
    if (number != 0) {
      failures_[attempt.place] = {base::errno_text(number)};
      return {};
    }
    try {
      return join(std::move(attempt.socket), attempt.place);
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::Cancelled) throw;
      failures_[attempt.place].why = error.what();
      return {};
    }
  }

  base::Fd join(base::Fd connected, const std::string& place) {
    PatientSocket socket(std::move(connected), std::min(deadline_, now() + kHandshakePatience), settings_.give_up);
    NodeGreeting greeting(settings_.secret);
    socket.send(greeting.hello());
    while (greeting.state() == NodeGreeting::State::Open) {
      socket.send(greeting.take(socket.receive(greeting.wanted())));
    }
    if (greeting.state() == NodeGreeting::State::Refused) return refuse(place, greeting.why());
    const wire::Bytes join = wire::pack(wire::NodeFrame::Join, 0, settings_.join);
    socket.send({reinterpret_cast<const char*>(join.data()), join.size()});
    // A coordinator that has waited long for the join asks whether the node is alive: the join has answered that.
    wire::Frame answer = receive_frame(socket);
    while (answer.is(wire::NodeFrame::Ping)) answer = receive_frame(socket);
    if (answer.is(wire::NodeFrame::Joined)) return socket.take();
    if (!answer.is(wire::NodeFrame::Refused)) return refuse(place, "it answers with an unknown frame");
    return refuse(place, wire::decode<Refused>(wire::view_of(answer.payload)).why);
  }

  // Reads no byte beyond the frame: what follows is the link's.
  static wire::Frame receive_frame(const PatientSocket& socket) {
    wire::FrameSplitter splitter(wire::kProtocol<wire::NodeFrame>, kAnswerMax);
    const std::string header = socket.receive(wire::kFrameHeaderSize);
    splitter.feed(wire::view_of(header.data(), header.size()));
    std::optional<wire::Frame> frame = splitter.next();
    if (frame) return *frame;
    std::uint32_t size = 0;
    std::memcpy(&size, header.data(), sizeof size);
    const std::string payload = socket.receive(size);
    splitter.feed(wire::view_of(payload.data(), payload.size()));
    frame = splitter.next();
    if (!frame) throw Error(ErrorKind::InvalidArgument, "it answers with an unknown frame");
    return *frame;
  }

  base::Fd refuse(const std::string& place, const std::string& why) {
    failures_[place] = {base::one_line(why, 500), true};
    return {};
  }

  [[noreturn]] void fail(bool is_final) const {
    std::string text;
    for (const auto& [place, failure] : failures_) {
      if (is_final && !failure.is_final) continue;
      text += (text.empty() ? "" : "; ") + std::string("at ") + place + ": " + failure.why;
    }
    if (is_final) throw Error(ErrorKind::Disconnected, "cannot join the run of the coordinator " + text);
    throw Error(ErrorKind::Disconnected,
                "cannot reach the coordinator " + text + "; tried for " + base::human(settings_.patience));
  }

  const DialSettings& settings_;
  const TimePoint begin_;
  const TimePoint deadline_;
  std::map<std::string, Failure> failures_;  // by place, the latest
};

}  // namespace

std::unique_ptr<Link> dial(io::Loop& loop, const DialSettings& settings) {
  return std::make_unique<Link>(loop, Dialing(settings).run(), settings.link);
}

}  // namespace distrun::nodes
