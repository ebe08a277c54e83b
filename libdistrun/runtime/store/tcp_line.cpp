#include <distrun/runtime/store/tcp_line.hpp>

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <distrun/common/base/deadline.hpp>
#include <distrun/common/base/error.hpp>
#include <distrun/common/base/text.hpp>
#include <distrun/common/store_server/tcp_address.hpp>
#include <distrun/common/store_server/tcp_protocol.hpp>
#include <distrun/runtime/core/deaths.hpp>
#include <distrun/runtime/core/hosts.hpp>
#include <distrun/runtime/core/rank_state.hpp>
#include <distrun/runtime/store/waiting.hpp>

namespace distrun::stores {
namespace {

using namespace std::chrono_literals;

constexpr base::Nanoseconds kRetryFirstRest = 5ms;  // between two tries to connect
constexpr base::Nanoseconds kRetryLastRest = 500ms;
constexpr auto kGreetingPatience = 10s;
constexpr char kClosed[] = "it closed the connection during the handshake";
constexpr char kFailedMeanwhile[] = "a rank failed in the meantime";

// Returns the time left in milliseconds for poll(), rounded up; -1: unlimited.
int left_ms(base::TimePoint deadline) {
  if (deadline == base::TimePoint::max()) return -1;
  const auto left = deadline - base::system_clock().now();
  const auto ms = std::chrono::ceil<base::Milliseconds>(left).count();
  return static_cast<int>(std::clamp<std::int64_t>(ms, 0, 1 << 30));
}

bool is_end(int number) { return number == EPIPE || number == ECONNRESET; }

bool is_of_nobody(int number) { return number == ECONNREFUSED || number == ECONNRESET || number == ETIMEDOUT; }

}  // namespace

TcpLine::TcpLine(const std::string& host, std::uint16_t port, std::string_view secret, const WaitLimit& limit,
                 int give_up, Unserved unserved, ServerProcess server)
    : host_(host), port_(port), splitter_(wire::kProtocol<StoreFrame>), server_(server) {
  base::Nanoseconds rest = kRetryFirstRest;
  while (!try_connect(limit.deadline, give_up)) {
    if (unserved == Unserved::Gone) lose(gone_text());
    const base::TimePoint now = base::system_clock().now();
    pollfd entry{give_up, POLLIN, 0};
    const base::TimePoint again = std::min(limit.deadline, base::deadline_after(rest, now));
    if (::poll(&entry, 1, left_ms(again)) > 0) lose(kFailedMeanwhile);
    if (now >= limit.deadline) {
      throw Error(ErrorKind::Timeout, "DistStoreError",
                  "no store server answered at " + place_of(host_, port_) + " within " + base::human(limit.timeout) +
                      awaited_text());
    }
    rest = std::min(2 * rest, kRetryLastRest);
  }
  greet(secret, limit.deadline, give_up);
}

// Returns false if no process listens at any of the addresses.
bool TcpLine::try_connect(TimePoint deadline, int give_up) {
  int number = 0;
  for (const TcpAddress& address : resolve(host_, port_)) {
    socket_ = make_tcp_socket(address.family());
    if (::connect(socket_.get(), address.get(), address.size) == 0) return true;
    number = errno;
    if (number == EINPROGRESS) {
      if (wait(POLLOUT, deadline, give_up) != Ready::Yes) return false;
      socklen_t size = sizeof number;
      ::getsockopt(socket_.get(), SOL_SOCKET, SO_ERROR, &number, &size);
      if (number == 0) return true;
    }
  }
  socket_.reset();
  if (is_of_nobody(number)) return false;
  throw Error(ErrorKind::Disconnected,
              "cannot connect to the store at " + place_of(host_, port_) + ": " + base::errno_text(number));
}

// Sends nothing but random bytes to a listener that has not proved that it knows the secret.
void TcpLine::greet(std::string_view secret, TimePoint deadline, int give_up) {
  const TimePoint patience = std::min(deadline, base::deadline_after(kGreetingPatience));
  proof::Nonces nonces{proof::make_nonce(), {}};
  say(std::string(kHandshake.connector_magic) + nonces.connector);
  check_magic(hear(kMagicSize, patience, give_up,
                   "it closed the connection without an answer: it is not a store, or has another version"));
  nonces.listener = hear(proof::kNonceSize, patience, give_up, kClosed);
  const std::string claim = hear(proof::kProofSize, patience, give_up, kClosed);
  if (!proof::is_proof(claim, secret, kHandshake.name, proof::Side::Listener, nonces)) {
    lose(
        "it does not know this client's secret; give the server and its clients the same one "
        "(TcpStoreOptions::secret, else $DISTRUN_STORE_SECRET)");
  }
  say(proof::prove(secret, kHandshake.name, proof::Side::Connector, nonces));
  if (hear(1, patience, give_up, kClosed)[0] != kWelcome) lose("it refused this client's proof of the secret");
  std::int32_t pid = 0;
  std::memcpy(&pid, hear(sizeof pid, patience, give_up, kClosed).data(), sizeof pid);
  server_ = {is_server_here() ? core::rank_of_peer(-1, pid) : -1, pid};
}

// Processes of another host have other numbers. Both ends of a connection within a host have the same address.
bool TcpLine::is_server_here() const {
  if (!core::known_hosts().are_several()) return true;
  return are_ends_of_one_host(socket_.get());
}

void TcpLine::check_magic(std::string_view magic) const {
  if (magic == kHandshake.listener_magic) return;
  const bool is_store = magic.substr(0, proof::kVersionAt) == kHandshake.listener_magic.substr(0, proof::kVersionAt);
  if (!is_store) lose("it is not a store");
  lose("it speaks version " + base::one_line(magic.substr(proof::kVersionAt), 8) +
       " of the protocol, but this client speaks version " + kHandshake.listener_magic[proof::kVersionAt] +
       "; use the same version of distrun on both sides");
}

void TcpLine::say(std::string_view bytes) const {
  const ssize_t count = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
  if (count != static_cast<ssize_t>(bytes.size())) lose(kClosed);  // so few bytes always fit
}

// Reads exactly `size` bytes.
std::string TcpLine::hear(std::size_t size, TimePoint deadline, int give_up, const char* if_closed) const {
  std::string bytes(size, '\0');
  for (std::size_t have = 0; have < size;) {
    const Ready ready = wait(POLLIN, deadline, give_up);
    if (ready != Ready::Yes) lose(ready == Ready::Late ? "it does not answer" : kFailedMeanwhile);
    const ssize_t count = ::recv(socket_.get(), bytes.data() + have, size - have, 0);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (count <= 0) lose(if_closed);
    have += static_cast<std::size_t>(count);
  }
  return bytes;
}

TcpLine::Ready TcpLine::wait(short events, TimePoint deadline, int give_up) const {
  for (;;) {
    pollfd entries[2]{{socket_.get(), events, 0}, {give_up, POLLIN, 0}};
    const int ready = ::poll(entries, 2, left_ms(deadline));
    if (ready > 0 && entries[0].revents != 0) return Ready::Yes;
    if (ready > 0) return Ready::GaveUp;
    if (ready == 0 && base::system_clock().now() >= deadline) return Ready::Late;
  }
}

bool TcpLine::send(const wire::Bytes& packed, TimePoint deadline, int give_up) {
  std::size_t done = 0;
  while (done < packed.size()) {
    const ssize_t count = ::send(socket_.get(), packed.data() + done, packed.size() - done, MSG_NOSIGNAL);
    if (count > 0) {
      done += static_cast<std::size_t>(count);
    } else if (errno == EAGAIN) {
      const Ready ready = wait(POLLOUT, deadline, give_up);
      if (ready == Ready::Late) return false;
      if (ready == Ready::GaveUp) lose(kFailedMeanwhile);
    } else if (errno != EINTR) {
      lose(is_end(errno) ? gone_text() : base::errno_text(errno));
    }
  }
  return true;
}

std::optional<wire::Frame> TcpLine::receive(TimePoint deadline, int give_up) {
  for (;;) {
    if (auto frame = splitter_.next()) return frame;
    if (wait(POLLIN, deadline, give_up) != Ready::Yes) return std::nullopt;
    std::byte part[64 * 1024];
    const ssize_t count = ::recv(socket_.get(), part, sizeof part, 0);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (count <= 0) lose(count == 0 || is_end(errno) ? gone_text() : base::errno_text(errno));
    splitter_.feed(wire::view_of(part, static_cast<std::size_t>(count)));
  }
}

std::string TcpLine::gone_text() const {
  if (server_.pid == 0 || server_.pid == ::getpid()) return "its server is gone";
  const std::string process = "process " + std::to_string(server_.pid);
  if (server_.rank < 0) return "its server, " + process + ", is gone";
  return "its server, rank " + std::to_string(server_.rank) + " (" + process + "), is gone";
}

// A rank that serves a store and is alive has mostly closed it because another rank has died.
void TcpLine::lose(const std::string& why) const {
  Error error(ErrorKind::Disconnected, "the store at " + place_of(host_, port_) + ": " + why);
  const auto dead = server_.rank >= 0 && !core::death_of(server_.rank) ? core::first_death() : std::nullopt;
  if (dead) error = Error(ErrorKind::Disconnected, error.text() + "; before that, " + core::text_of(*dead));
  throw error.with_cause(dead ? dead->rank : server_.rank);
}

}  // namespace distrun::stores
