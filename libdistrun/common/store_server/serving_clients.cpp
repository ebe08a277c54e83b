// Clients: how they connect, prove the secret and leave.
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include <distrun/common/base/error.hpp>
#include <distrun/common/store_server/serving.hpp>
#include <distrun/common/store_server/store_server.hpp>
#include <distrun/common/store_server/tcp_address.hpp>

namespace distrun::stores {
namespace {

using namespace std::chrono_literals;

constexpr int kBacklog = 1024;
constexpr std::size_t kClients = 4096;
constexpr auto kPatience = 5s;  // for the first bytes

std::string own_pid() {
  const std::int32_t pid = ::getpid();
  return std::string(reinterpret_cast<const char*>(&pid), sizeof pid);
}

}  // namespace

Serving::Client::Client(std::string_view secret, base::ByteBudget& answers, base::ByteBudget& requests)
    : greeting(kHandshake, secret, own_pid()), untaken(answers), arriving(requests) {}

// Accepting must not block: another process may share the socket, and take the client.
Serving::Serving(base::Fd listening, std::string_view secret, std::atomic<int>& refused, const ServerLimits& limits)
    : secret_(secret),
      refused_(refused),
      limits_(limits),
      answers_(limits.answers),
      requests_(limits.requests),
      deadline_(loop_, [this] { end_late(); }),
      shortage_(loop_, [this] { end_stalled(); }),
      reserve_(::open("/dev/null", O_RDONLY | O_CLOEXEC)) {
  base::set_nonblocking(listening.get());
  listener_ = std::make_unique<io::FdWatch>(loop_, std::move(listening), [this] { accept_all(); });
}

base::Fd listen_for_store(const std::string& host, std::uint16_t port) {
  std::string why;
  for (const TcpAddress& wanted : resolve(host, port)) {
    base::Fd socket = make_tcp_socket(wanted.family());
    const int on = 1;
    ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (::bind(socket.get(), wanted.get(), wanted.size) != 0 || ::listen(socket.get(), kBacklog) != 0) {
      why = base::errno_text(errno);
      continue;
    }
    return socket;
  }
  throw Error(ErrorKind::Failed,
              "the server socket of the store has failed to listen on any local network address at " +
                  place_of(host, port) + ": " + why);
}

void Serving::accept_all() {
  for (;;) {
    base::Fd socket(::accept4(listener_->fd(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (socket) {
      if (clients_.size() < kClients) add(std::move(socket));
    } else if ((errno != EMFILE && errno != ENFILE) || !turn_one_away()) {
      return;
    }
  }
}

// If no descriptor is free, a pending connection would keep the loop busy. It is accepted with the reserve descriptor
// and closed.
bool Serving::turn_one_away() {
  reserve_.reset();
  const bool is_turned_away =
      static_cast<bool>(base::Fd(::accept4(listener_->fd(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK)));
  reserve_.reset(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  return is_turned_away && reserve_;
}

void Serving::add(base::Fd socket) {
  Client& client = clients_.emplace_back(secret_, answers_, requests_);
  try {
    begin_greeting(client, std::move(socket));
  } catch (const std::exception&) {  // no memory, no descriptor
    clients_.pop_back();
  }
}

void Serving::begin_greeting(Client& client, base::Fd socket) {
  client.greets = std::make_unique<io::FdWatch>(loop_, std::move(socket), [this, &client] { greet(client); });
  client.patience = std::make_unique<io::Alarm>(loop_, [this, &client] {
    if (client.line == nullptr) drop(client);
    sweep();
  });
  client.patience->set_after(kPatience);
}

void Serving::greet(Client& client) {
  char bytes[kHelloSize];
  const ssize_t count = ::recv(client.greets->fd(), bytes, std::min(sizeof bytes, client.greeting.wanted()), 0);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
  try {
    const std::string_view part(bytes, static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    part.empty() ? leave(client) : go_on(client, part);
  } catch (const std::exception&) {  // no random numbers, no memory
    drop(client);
  }
  sweep();
}

void Serving::go_on(Client& client, std::string_view bytes) {
  const std::string answer = client.greeting.take(bytes);
  const bool is_welcome = client.greeting.state() == proof::ListenerGreeting::State::Welcome;
  if (is_welcome) make_line(client);  // before the client is notified
  const auto sent = ::send(client.greets->fd(), answer.data(), answer.size(), MSG_NOSIGNAL);
  if (sent != static_cast<ssize_t>(answer.size())) return drop(client);  // so few bytes fit, or the client is gone
  using State = proof::ListenerGreeting::State;
  switch (client.greeting.state()) {
    case State::Open: return;
    case State::Welcome: return end_greeting(client);
    case State::Refused: return leave(client);
    case State::Stranger: return drop(client);
  }
}

// Reads pending bytes first: a socket that is closed with unread bytes is reset, and the answer may be lost.
void Serving::leave(Client& client) {
  char rest[4096];
  (void)!::recv(client.greets->fd(), rest, sizeof rest, 0);
  if (client.greeting.is_refused()) ++refused_;
  drop(client);
}

void Serving::make_line(Client& client) {
  base::Fd socket(::fcntl(client.greets->fd(), F_DUPFD_CLOEXEC, 0));
  if (!socket) base::throw_errno("cannot duplicate a socket", errno);
  io::FrameSocket::Handlers handlers;
  handlers.on_frame = [this, &client](const wire::Frame& frame) { take(client, frame); };
  handlers.on_closed = [this, &client](const std::string&) {
    drop(client);
    loop_.post([this] { sweep(); });
  };
  handlers.may_read = [this, &client](std::size_t request) { return may_read(client, request); };
  handlers.on_taken = [this, &client] {
    client.count_untaken(loop_.clock().now(), true);
    use_room();
  };
  client.line =
      std::make_unique<io::FrameSocket>(loop_, std::move(socket), wire::kProtocol<StoreFrame>, std::move(handlers));
}

void Serving::end_greeting(Client& client) {
  client.patience.reset();
  client.greets.reset();
}

void Serving::drop(Client& client) {
  client.is_gone = true;
  must_sweep_ = true;
}

// Separate from drop(), which handlers owned by the client may call.
void Serving::sweep() {
  if (!must_sweep_) return;
  std::erase_if(waiting_, [](const Waiting& each) { return each.client->is_gone; });
  loop_.post([this] {
    clients_.remove_if([](const Client& each) { return each.is_gone; });
    use_room();
  });
  must_sweep_ = false;
}

void Serving::go_on() noexcept {
  try {
    sweep();
    set_alarm();
  } catch (const std::exception&) {
    return;  // done at the next event
  }
}

}  // namespace distrun::stores
