#include <distrun/runtime/store/store_server.hpp>

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <future>
#include <list>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/thread.hpp>
#include <distrun/common/io/frame_socket.hpp>
#include <distrun/runtime/store/key_table.hpp>
#include <distrun/runtime/store/server_greeting.hpp>
#include <distrun/runtime/store/tcp_address.hpp>
#include <distrun/runtime/store/tcp_protocol.hpp>
#include <distrun/runtime/store/waiting.hpp>

namespace distrun::stores {
namespace {

using namespace std::chrono_literals;

constexpr int kBacklog = 1024;
constexpr std::size_t kClients = 4096;
constexpr std::size_t kAskedMax = 1024;                           // requests of one client that wait for keys
constexpr std::size_t kWaitingBytesMax = std::size_t{256} << 20;  // of all requests that wait for keys
constexpr auto kPatience = 5s;                                    // for the first bytes
constexpr base::Nanoseconds kPatienceMax = std::chrono::hours(24 * 365);

std::size_t bytes_of(const Request& request) {
  constexpr std::size_t kEach = 2 * sizeof(std::string);
  std::size_t bytes = 0;
  for (const std::string& key : request.keys) bytes += kEach + key.size();
  for (const std::string& value : request.values) bytes += kEach + value.size();
  return bytes;
}

Refusal refusal_of(std::uint64_t id, const Error& error) {
  return {.id = id, .kind = error.kind(), .type = error.type(), .text = error.text()};
}

// Made, run and destroyed on its own thread.
class Serving {
 public:
  Serving(const std::string& host, std::uint16_t port, std::string_view secret, std::atomic<int>& refused);

  std::uint16_t port() const noexcept { return port_; }
  io::Loop& loop() noexcept { return loop_; }

 private:
  // One socket: first in the handshake, then with a line.
  struct Client {
    explicit Client(std::string_view secret) : greeting(secret) {}

    std::unique_ptr<io::FdWatch> greets;
    ServerGreeting greeting;
    std::unique_ptr<io::Alarm> patience;
    std::unique_ptr<io::FrameSocket> line;
    std::set<std::string> watches;
    std::size_t waiting = 0;  // requests
    bool is_gone = false;
  };
  using Clients = std::list<Client>;
  struct Waiting {
    Client* client;
    Ask ask;
    std::size_t bytes;
    base::TimePoint begin;
    base::TimePoint deadline;
  };

  void listen(const std::string& host, std::uint16_t port);
  void accept_all();
  bool turn_one_away();
  void add(base::Fd socket);
  void greet(Client& client);
  void go_on(Client& client, std::string_view bytes);
  void leave(Client& client);
  void welcome(Client& client);
  void drop(Client& client);
  void sweep();

  void take(Client& client, const wire::Frame& frame);
  void take(Client& client, Ask ask);
  bool try_answer(Client& client, const Ask& ask);
  // The same without what follows from a change. `changes` as KeyTable::run().
  bool answer(Client& client, const Ask& ask, std::vector<Change>* changes = nullptr);
  std::size_t waiting_bytes() const;
  void cancel(Client& client, std::uint64_t id);
  void answer_waiting();
  void tell_changes(const std::vector<Change>& changes);
  void end_late();
  void set_alarm();
  template <class Message>
  void send(Client& client, StoreFrame kind, const Message& message);

  io::Loop loop_;
  const std::string secret_;
  std::atomic<int>& refused_;
  std::uint16_t port_ = 0;
  KeyTable table_;
  Clients clients_;
  std::list<Waiting> waiting_;  // the oldest first
  bool must_sweep_ = false;
  io::Alarm deadline_;
  base::Fd reserve_;
  std::unique_ptr<io::FdWatch> listener_;
};

Serving::Serving(const std::string& host, std::uint16_t port, std::string_view secret, std::atomic<int>& refused)
    : secret_(secret),
      refused_(refused),
      deadline_(loop_, [this] { end_late(); }),
      reserve_(::open("/dev/null", O_RDONLY | O_CLOEXEC)) {
  listen(host, port);
}

// At the first of the host's addresses that takes it.
void Serving::listen(const std::string& host, std::uint16_t port) {
  std::string why;
  for (const TcpAddress& wanted : resolve(host, port)) {
    base::Fd socket = make_tcp_socket(wanted.family());
    const int on = 1;
    ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (::bind(socket.get(), wanted.get(), wanted.size) != 0 || ::listen(socket.get(), kBacklog) != 0) {
      why = base::errno_text(errno);
      continue;
    }
    port_ = port_of(socket.get());
    listener_ = std::make_unique<io::FdWatch>(loop_, std::move(socket), [this] { accept_all(); });
    return;
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

// Without a descriptor for it a connection would wait, and the loop turn for it: it gets the one that is kept, and
// ends.
bool Serving::turn_one_away() {
  reserve_.reset();
  const bool is_turned_away =
      static_cast<bool>(base::Fd(::accept4(listener_->fd(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK)));
  reserve_.reset(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  return is_turned_away && reserve_;
}

void Serving::add(base::Fd socket) {
  Client& client = clients_.emplace_back(secret_);
  client.greets = std::make_unique<io::FdWatch>(loop_, std::move(socket), [this, &client] { greet(client); });
  client.patience = std::make_unique<io::Alarm>(loop_, [this, &client] {
    if (client.line == nullptr) drop(client);
    sweep();
  });
  client.patience->set(loop_.clock().now() + kPatience);
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
  const auto sent = ::send(client.greets->fd(), answer.data(), answer.size(), MSG_NOSIGNAL);
  if (sent != static_cast<ssize_t>(answer.size())) return drop(client);  // so few bytes have room, or it is gone
  switch (client.greeting.state()) {
    case ServerGreeting::State::Open: return;
    case ServerGreeting::State::Welcome: return welcome(client);
    case ServerGreeting::State::Refused: return leave(client);
    case ServerGreeting::State::Stranger: return drop(client);
  }
}

// Reads what has come: a socket that is closed before that is reset, and the answer may not arrive.
void Serving::leave(Client& client) {
  char rest[4096];
  (void)!::recv(client.greets->fd(), rest, sizeof rest, 0);
  if (client.greeting.is_refused()) ++refused_;
  drop(client);
}

void Serving::welcome(Client& client) {
  base::Fd socket(::fcntl(client.greets->fd(), F_DUPFD_CLOEXEC, 0));
  if (!socket) return drop(client);
  client.patience.reset();
  io::FrameSocket::Handlers handlers;
  handlers.on_frame = [this, &client](const wire::Frame& frame) { take(client, frame); };
  handlers.on_closed = [this, &client](const std::string&) {
    drop(client);
    loop_.post([this] { sweep(); });
  };
  client.line =
      std::make_unique<io::FrameSocket>(loop_, std::move(socket), wire::kProtocol<StoreFrame>, std::move(handlers));
  client.greets.reset();
}

void Serving::drop(Client& client) {
  client.is_gone = true;
  must_sweep_ = true;
}

// Apart from drop(): that may be called by what goes with the client.
void Serving::sweep() {
  if (!std::exchange(must_sweep_, false)) return;
  std::erase_if(waiting_, [](const Waiting& each) { return each.client->is_gone; });
  loop_.post([this] { clients_.remove_if([](const Client& each) { return each.is_gone; }); });
}

template <class Message>
void Serving::send(Client& client, StoreFrame kind, const Message& message) {
  if (client.is_gone) return;
  try {
    client.line->send(wire::pack(kind, 0, message));
  } catch (const std::exception&) {
    drop(client);  // it does not read, or there is no memory for what it has asked for
  }
}

void Serving::take(Client& client, const wire::Frame& frame) {
  try {
    if (frame.is(StoreFrame::Ask)) {
      take(client, wire::decode<Ask>(wire::view_of(frame.payload)));
    } else if (frame.is(StoreFrame::FollowKey) && client.watches.size() < kAskedMax) {
      client.watches.insert(wire::decode<FollowKey>(wire::view_of(frame.payload)).key);
      send(client, StoreFrame::Answer, Answer{});
    } else if (frame.is(StoreFrame::Cancel)) {
      cancel(client, wire::decode<Cancel>(wire::view_of(frame.payload)).id);
    } else {
      drop(client);
    }
  } catch (const std::exception&) {  // it makes no sense, or there is no memory for it
    drop(client);
  }
  sweep();
}

void Serving::take(Client& client, Ask ask) {
  if (try_answer(client, ask)) return;
  if (client.waiting == kAskedMax) return drop(client);
  const std::size_t bytes = bytes_of(ask.request);
  if (waiting_bytes() + bytes > kWaitingBytesMax) {
    return send(client, StoreFrame::Refusal,
                refusal_of(ask.id, Error(ErrorKind::Overloaded, "requests of " + std::to_string(waiting_bytes()) +
                                                                    " bytes wait for keys of this store: too many")));
  }
  ++client.waiting;
  const base::TimePoint now = loop_.clock().now();
  const auto patience = std::clamp(base::Nanoseconds(ask.patience_ns), base::Nanoseconds(0), kPatienceMax);
  waiting_.push_back({&client, std::move(ask), bytes, now, now + patience});
  set_alarm();
}

std::size_t Serving::waiting_bytes() const {
  std::size_t bytes = 0;
  for (const Waiting& each : waiting_) bytes += each.bytes;
  return bytes;
}

// False: what it waits for is not there.
bool Serving::try_answer(Client& client, const Ask& ask) {
  std::vector<Change> changes;
  if (!answer(client, ask, &changes)) return false;
  tell_changes(changes);
  if (is_change(ask.request.op) && !waiting_.empty()) answer_waiting();
  return true;
}

bool Serving::answer(Client& client, const Ask& ask, std::vector<Change>* changes) {
  try {
    const Reply reply = table_.run(ask.request, changes);
    if (!reply.is_ready) return false;
    send(client, StoreFrame::Answer, Answer{ask.id, reply});
  } catch (const Error& error) {
    send(client, StoreFrame::Refusal, refusal_of(ask.id, error));
  } catch (const std::bad_alloc&) {
    drop(client);
  }
  return true;
}

void Serving::cancel(Client& client, std::uint64_t id) {
  waiting_.remove_if([&](const Waiting& each) {
    if (each.client != &client || each.ask.id != id) return false;
    --client.waiting;
    send(client, StoreFrame::Refusal, refusal_of(id, Error(ErrorKind::Cancelled, "cancelled")));
    return true;
  });
}

// Those that have waited longest come first. None of them changes what others wait for: a pop takes away.
void Serving::answer_waiting() {
  waiting_.remove_if([this](const Waiting& each) {
    if (each.client->is_gone) return true;
    if (!answer(*each.client, each.ask)) return false;
    --each.client->waiting;
    return true;
  });
}

void Serving::tell_changes(const std::vector<Change>& changes) {
  for (const Change& change : changes) {
    for (Client& client : clients_) {
      if (client.watches.contains(change.key)) {
        send(client, StoreFrame::Changed, Changed{change.key, change.before, change.after});
      }
    }
  }
}

void Serving::end_late() {
  const base::TimePoint now = loop_.clock().now();
  waiting_.remove_if([&](const Waiting& each) {
    if (each.deadline > now) return false;
    --each.client->waiting;
    const Error error = timeout_error(each.deadline - each.begin, table_.named_missing(each.ask.request), {});
    send(*each.client, StoreFrame::Refusal, refusal_of(each.ask.id, error));
    return true;
  });
  set_alarm();
  sweep();
}

void Serving::set_alarm() {
  const auto first = std::ranges::min_element(waiting_, {}, &Waiting::deadline);
  if (first != waiting_.end()) deadline_.set(first->deadline);
}

}  // namespace

class StoreServer::Impl {
 public:
  Impl(const std::string& host, std::uint16_t port, std::string_view secret)
      : thread_("distrun-store", [this, host, port, secret = std::string(secret), listens = listens_] {
          serve(host, port, secret, *listens);
        }) {
    port_ = listens_->get_future().get();
  }
  ~Impl() { loop_->stop(); }

  std::uint16_t port() const noexcept { return port_; }
  int refused() const noexcept { return refused_.load(); }

 private:
  using Listens = std::promise<std::uint16_t>;

  void serve(const std::string& host, std::uint16_t port, std::string_view secret, Listens& listens) {
    std::optional<Serving> serving;
    try {
      serving.emplace(host, port, secret, refused_);
    } catch (...) {
      return listens.set_exception(std::current_exception());
    }
    loop_ = &serving->loop();
    loop_->post([&listens, at = serving->port()] { listens.set_value(at); });  // by then it runs, and hears a stop
    loop_->run();
  }

  const std::shared_ptr<Listens> listens_ = std::make_shared<Listens>();
  io::Loop* loop_ = nullptr;  // good until it is stopped; set before the constructor ends
  std::uint16_t port_ = 0;
  std::atomic<int> refused_{0};
  base::Thread thread_;
};

StoreServer::StoreServer(const std::string& host, std::uint16_t port, std::string_view secret)
    : impl_(std::make_unique<Impl>(host, port, secret)) {}
StoreServer::~StoreServer() = default;
std::uint16_t StoreServer::port() const noexcept { return impl_->port(); }
int StoreServer::refused() const noexcept { return impl_->refused(); }

}  // namespace distrun::stores
