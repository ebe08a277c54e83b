#include <distrun/runtime/store/tcp_line.hpp>

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/core/rank_state.hpp>
#include <distrun/runtime/store/tcp_address.hpp>
#include <distrun/runtime/store/tcp_protocol.hpp>
#include <distrun/runtime/store/waiting.hpp>

namespace distrun::stores {
namespace {

using namespace std::chrono_literals;

constexpr base::Nanoseconds kRetryFirstRest = 5ms;  // between two tries to connect
constexpr base::Nanoseconds kRetryLastRest = 500ms;
constexpr auto kWelcomePatience = 10s;

// Milliseconds as poll() takes them, not too few; -1: for ever.
int left_ms(base::TimePoint deadline) {
  if (deadline == base::TimePoint::max()) return -1;
  const auto left = deadline - base::system_clock().now();
  const auto ms = std::chrono::ceil<base::Milliseconds>(left).count();
  return static_cast<int>(std::clamp<std::int64_t>(ms, 0, 1 << 30));
}

const std::string kGone = "its server is gone";
bool is_end(int number) { return number == EPIPE || number == ECONNRESET; }

bool is_of_nobody(int number) { return number == ECONNREFUSED || number == ECONNRESET || number == ETIMEDOUT; }

}  // namespace

TcpLine::TcpLine(const std::string& host, std::uint16_t port, std::string_view secret, TimePoint deadline, int give_up,
                 Unserved unserved)
    : host_(host), port_(port), splitter_(wire::kProtocol<StoreFrame>) {
  const base::TimePoint begin = base::system_clock().now();
  base::Nanoseconds rest = kRetryFirstRest;
  while (!try_connect(deadline, give_up)) {
    if (unserved == Unserved::Gone) lose(kGone);
    const base::TimePoint now = base::system_clock().now();
    pollfd entry{give_up, POLLIN, 0};
    if (::poll(&entry, 1, left_ms(std::min(deadline, now + rest))) > 0) lose("a rank has failed meanwhile");
    if (now >= deadline) {
      throw Error(
          ErrorKind::Timeout, "DistStoreError",
          "nobody serves a store at " + place_of(host_, port_) + ": tried for " + human_timeout(deadline - begin));
    }
    rest = std::min(2 * rest, kRetryLastRest);
  }
  greet(secret, deadline, give_up);
}

// False: nobody listens at any of the addresses.
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

void TcpLine::greet(std::string_view secret, TimePoint deadline, int give_up) {
  const std::string bytes = hello(secret);
  if (::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(bytes.size())) {
    lose("it does not listen");
  }
  const base::TimePoint patience = std::min(deadline, base::system_clock().now() + kWelcomePatience);
  std::string welcome;
  while (welcome.size() < kWelcomeSize) {
    char part[kWelcomeSize];
    if (wait(POLLIN, patience, give_up) != Ready::Yes) lose("it does not answer");
    const ssize_t count = ::recv(socket_.get(), part, kWelcomeSize - welcome.size(), 0);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (count <= 0) lose("it has another secret, or is no store");
    welcome.append(part, static_cast<std::size_t>(count));
  }
  if (!welcome.starts_with(kWelcome)) lose("it is no store");
  std::int32_t pid = 0;
  std::memcpy(&pid, welcome.data() + kWelcome.size(), sizeof pid);
  server_rank_ = core::rank_of_peer(-1, pid);
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

void TcpLine::send(const wire::Bytes& packed, int give_up) {
  std::size_t done = 0;
  while (done < packed.size()) {
    const ssize_t count = ::send(socket_.get(), packed.data() + done, packed.size() - done, MSG_NOSIGNAL);
    if (count > 0) {
      done += static_cast<std::size_t>(count);
    } else if (errno == EAGAIN) {
      if (wait(POLLOUT, base::TimePoint::max(), give_up) != Ready::Yes) lose("a rank has failed meanwhile");
    } else if (errno != EINTR) {
      lose(is_end(errno) ? kGone : base::errno_text(errno));
    }
  }
}

std::optional<wire::Frame> TcpLine::receive(TimePoint deadline, int give_up) {
  for (;;) {
    if (auto frame = splitter_.next()) return frame;
    if (wait(POLLIN, deadline, give_up) != Ready::Yes) return std::nullopt;
    std::byte part[64 * 1024];
    const ssize_t count = ::recv(socket_.get(), part, sizeof part, 0);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (count <= 0) lose(count == 0 || is_end(errno) ? kGone : base::errno_text(errno));
    splitter_.feed(wire::view_of(part, static_cast<std::size_t>(count)));
  }
}

void TcpLine::lose(const std::string& why) const {
  throw Error(ErrorKind::Disconnected, "the store at " + place_of(host_, port_) + ": " + why).with_cause(server_rank_);
}

}  // namespace distrun::stores
