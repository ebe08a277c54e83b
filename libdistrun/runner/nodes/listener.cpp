#include <distrun/runner/nodes/listener.hpp>

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/text.hpp>
#include <distrun/common/store_server/tcp_address.hpp>
#include <distrun/runner/nodes/tcp_state.hpp>

namespace distrun::nodes {
namespace {

using wire::NodeFrame;

constexpr std::size_t kGuestsMax = 64;
constexpr int kBacklog = 128;
constexpr std::size_t kNamesInText = 8;

base::Fd spare_descriptor() { return base::Fd(::open("/dev/null", O_RDONLY | O_CLOEXEC)); }

// IPv6 alone: an IPv4 address gets its own socket, so no address appears in its mapped form.
base::Fd listening_socket(const stores::TcpAddress& address) {
  base::Fd socket = stores::make_tcp_socket(address.family());
  const int on = 1;
  ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (address.family() == AF_INET6) ::setsockopt(socket.get(), IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
  if (::bind(socket.get(), address.get(), address.size) != 0 || ::listen(socket.get(), kBacklog) != 0) socket.reset();
  return socket;
}

std::string list_of(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size() && i < kNamesInText; ++i) text += (i == 0 ? "" : ", ") + names[i];
  return names.size() > kNamesInText ? text + ", ..." : text;
}

}  // namespace

Listener::Listener(io::Loop& loop, Settings settings, Handlers handlers)
    : loop_(loop), settings_(std::move(settings)), handlers_(std::move(handlers)), reserve_(spare_descriptor()) {
  std::string why;
  for (const std::string& address : settings_.addresses) listen_at(address, why);
  if (sockets_.empty()) {
    throw Error(ErrorKind::Failed, "cannot listen for nodes at " + list_of(settings_.addresses) + ": " + why);
  }
}

Listener::~Listener() = default;

void Listener::listen_at(const std::string& host, std::string& why_not) {
  std::vector<stores::TcpAddress> addresses;
  try {
    addresses = stores::resolve(host, settings_.port);
  } catch (const Error& error) {
    why_not = error.what();
  }
  for (const stores::TcpAddress& address : addresses) {
    base::Fd socket = listening_socket(address);
    if (!socket) {
      why_not = base::errno_text(errno);
      continue;
    }
    places_.push_back({host, stores::port_of(socket.get())});
    const int number = socket.get();
    sockets_.push_back(std::make_unique<io::FdWatch>(loop_, std::move(socket), [this, number] { accept_all(number); }));
    return;
  }
}

void Listener::accept_all(int listening) {
  for (;;) {
    base::Fd socket(::accept4(listening, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (socket) {
      add(std::move(socket));
    } else if (errno == EMFILE || errno == ENFILE) {
      // The connection would keep the loop busy until it is taken.
      reserve_.reset();
      const bool is_taken(base::Fd(::accept4(listening, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK)));
      reserve_ = spare_descriptor();
      if (!is_taken) return;
    } else if (errno != ECONNABORTED && errno != EINTR) {
      return;
    }
  }
}

// Drops the oldest connection that has proved nothing.
void Listener::add(base::Fd socket) {
  const auto is_stranger = [](const Guest& guest) { return guest.link == nullptr; };
  if (std::count_if(guests_.begin(), guests_.end(), is_stranger) >= static_cast<std::ptrdiff_t>(kGuestsMax)) {
    drop(std::find_if(guests_.begin(), guests_.end(), is_stranger));
  }
  guests_.push_back(
      {peer_address_of(socket.get()), proof::ListenerGreeting(kNodeHandshake, settings_.secret), {}, {}, {}});
  const auto guest = std::prev(guests_.end());
  try {
    guest->patience = std::make_unique<io::Alarm>(loop_, [this, guest] { lose_patience(guest); });
    guest->patience->set_after(settings_.patience);
    guest->socket = std::make_unique<io::FdWatch>(loop_, std::move(socket), [this, guest] { greet(guest); });
  } catch (const std::exception&) {  // no memory
    drop(guest);
  }
}

// Reads no byte beyond the handshake: what follows is the link's.
void Listener::greet(Guests::iterator guest) {
  char bytes[kAnswerSize];
  const std::size_t wanted = std::min(guest->greeting.wanted(), sizeof bytes);
  const ssize_t count = ::recv(guest->socket->fd(), bytes, wanted, MSG_DONTWAIT);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (count <= 0) return drop(guest);
  take(guest, {bytes, static_cast<std::size_t>(count)});
}

void Listener::take(Guests::iterator guest, std::string_view bytes) {
  using State = proof::ListenerGreeting::State;
  std::string answer;
  try {
    answer = guest->greeting.take(bytes);
  } catch (const std::exception&) {  // no memory, no random numbers
    return drop(guest);
  }
  const ssize_t sent = ::send(guest->socket->fd(), answer.data(), answer.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  if (sent != static_cast<ssize_t>(answer.size())) return drop(guest);  // so few bytes always fit
  switch (guest->greeting.state()) {
    case State::Open: return;
    case State::Welcome: return welcome(guest);
    case State::Stranger:
    case State::Refused: return drop(guest);
  }
}

void Listener::welcome(Guests::iterator guest) {
  base::Fd socket(::fcntl(guest->socket->fd(), F_DUPFD_CLOEXEC, 3));
  if (!socket) return refuse(guest, "a node at " + guest->from + " was dropped: " + base::errno_text(errno));
  guest->socket.reset();
  guest->link = std::make_unique<Link>(loop_, std::move(socket), settings_.link);
  Link::Handlers handlers;
  handlers.on_frame = [this, guest](const wire::Frame& frame) { take_join(guest, frame); };
  handlers.on_lost = [this, guest](const std::string& why) {
    refuse(guest, "the connection of a node at " + guest->from + " ended before it joined: " + why);
  };
  guest->link->follow(std::move(handlers));
  guest->patience->set_after(settings_.patience);
}

// Copies what is needed after the guest is gone.
void Listener::take_join(Guests::iterator guest, const wire::Frame& frame) {
  if (!frame.is(NodeFrame::Join)) throw Error(ErrorKind::InvalidArgument, "the first frame of a node is not Join");
  Join join = read_join(wire::view_of(frame.payload));
  const std::string why = why_not(join);
  if (!why.empty()) {
    guest->link->send(NodeFrame::Refused, 0, Refused{why});
    return refuse(guest, "a node at " + guest->from + " was refused: " + why);
  }
  joined_.insert(join.host);
  std::unique_ptr<Link> link = std::move(guest->link);
  guests_.erase(guest);
  link->follow({});
  link->send(NodeFrame::Joined, 0, Joined{settings_.version});
  const auto on_joined = handlers_.on_joined;
  on_joined(std::move(join), std::move(link));
}

std::string Listener::why_not(const Join& join) const {
  const std::string& host = join.host;
  if (std::find(settings_.hosts.begin(), settings_.hosts.end(), host) == settings_.hosts.end()) {
    return "the host " + host + " is not part of this run, which has the hosts " + list_of(settings_.hosts);
  }
  if (join.version != settings_.version) {
    return "distrun on " + host + " has the version " + base::one_line(join.version, 60) + ", the coordinator " +
           settings_.version + "; install the same version on all hosts";
  }
  if (joined_.count(host) > 0) return "a node of the host " + host + " has joined this run before";
  return "";
}

void Listener::lose_patience(Guests::iterator guest) {
  if (guest->link == nullptr) return drop(guest);
  refuse(guest, "a node at " + guest->from + " did not join within " + base::human(settings_.patience) +
                    " after its proof of the secret");
}

void Listener::drop(Guests::iterator guest) { guests_.erase(guest); }

void Listener::refuse(Guests::iterator guest, const std::string& why) {
  const std::string text = why;
  drop(guest);
  if (handlers_.on_refused) handlers_.on_refused(text);
}

}  // namespace distrun::nodes
