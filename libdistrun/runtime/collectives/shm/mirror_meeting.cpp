#include <distrun/runtime/collectives/shm/mirror_meeting.hpp>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <list>
#include <optional>
#include <sstream>
#include <utility>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/rng.hpp>
#include <distrun/common/proof/proof.hpp>
#include <distrun/common/store_server/tcp_address.hpp>
#include <distrun/runtime/collectives/explain.hpp>
#include <distrun/runtime/collectives/hosts_of_group.hpp>
#include <distrun/runtime/core/deaths.hpp>
#include <distrun/runtime/core/hosts.hpp>
#include <distrun/runtime/core/wait.hpp>

namespace distrun::collectives::shm {
namespace {

using namespace std::chrono_literals;

constexpr char kProtocol[] = "distrun-group-1";
constexpr std::string_view kGreeting = "dgroup-1";
constexpr std::size_t kHelloSize = kGreeting.size() + proof::kNonceSize;
constexpr std::size_t kAnswerSize = proof::kNonceSize + proof::kProofSize;
constexpr std::size_t kLastSize = proof::kProofSize + sizeof(std::uint32_t);
constexpr int kBacklog = 512;
constexpr std::size_t kCallersMost = 512;        // in the handshake at a time
constexpr base::Nanoseconds kPatience = 5s;      // with one of them
constexpr base::Nanoseconds kRetry = 50ms;       // after a failed connection
constexpr base::Nanoseconds kLook = 50ms;        // for dead ranks
constexpr base::Nanoseconds kLongestRest = 2ms;  // between looks at the sockets
constexpr int kKeepAlive[] = {10, 2, 5};         // seconds of silence, seconds between probes, probes

// Where a rank listens.
struct Place {
  std::string host;  // numeric
  std::uint16_t port = 0;
  int pid = 0;
};

std::string to_text(const Place& place) {
  return place.host + ' ' + std::to_string(place.port) + ' ' + std::to_string(place.pid);
}

Place parse_place(const std::string& text) {
  Place place;
  std::istringstream words(text);
  if (words >> place.host >> place.port >> place.pid) return place;
  throw Error(ErrorKind::Failed, "the store's address of a rank of the group is unreadable: \"" + text + "\"");
}

// A host that vanishes without a word is noticed even if nothing is sent to it.
void keep_alive(int socket) {
  const int on = 1;
  ::setsockopt(socket, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
  ::setsockopt(socket, IPPROTO_TCP, TCP_KEEPIDLE, &kKeepAlive[0], sizeof(int));
  ::setsockopt(socket, IPPROTO_TCP, TCP_KEEPINTVL, &kKeepAlive[1], sizeof(int));
  ::setsockopt(socket, IPPROTO_TCP, TCP_KEEPCNT, &kKeepAlive[2], sizeof(int));
}

base::Fd listen_here(const std::string& host) {
  const stores::TcpAddress address = stores::resolve(host, 0).front();
  base::Fd socket = stores::make_tcp_socket(address.family());
  if (::bind(socket.get(), address.get(), address.size) == 0 && ::listen(socket.get(), kBacklog) == 0) return socket;
  throw Error(ErrorKind::Failed, "cannot listen at this host's address " + host + ": " + base::errno_text(errno) +
                                     "; $DISTRUN_HOST_ADDRESS must be an address of this machine");
}

// Reads what is there, up to `size` bytes in all. Returns false if the connection has ended.
bool hear(const base::Fd& socket, std::string& bytes, std::size_t size) {
  char part[128];
  while (bytes.size() < size) {
    const ssize_t count = ::recv(socket.get(), part, std::min(sizeof part, size - bytes.size()), MSG_DONTWAIT);
    if (count > 0) {
      bytes.append(part, static_cast<std::size_t>(count));
    } else {
      return count < 0 && (errno == EAGAIN || errno == EINTR);
    }
  }
  return true;
}

// So few bytes go as a whole, or not at all.
bool say(const base::Fd& socket, const std::string& bytes) {
  return ::send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT) ==
         static_cast<ssize_t>(bytes.size());
}

// The connection to a rank that listens. It is tried again until it succeeds.
class Calling {
 public:
  Calling(int rank, Place place) : rank_(rank), place_(std::move(place)) {}

  int rank() const noexcept { return rank_; }
  // Why the last try has failed; empty: none has.
  const std::string& why() const noexcept { return why_; }
  // Returns the socket once both ends have proved the secret.
  base::Fd step(const std::string& secret, int own_rank) {
    if (!socket_ && base::system_clock().now() >= next_) connect();
    if (socket_ && !is_said_) greet();
    if (!socket_ || !is_said_) return {};
    if (!hear(socket_, heard_, kAnswerSize)) return fail("it closed the connection during the handshake");
    return heard_.size() == kAnswerSize ? prove(secret, own_rank) : base::Fd();
  }

 private:
  base::Fd fail(const std::string& why) {
    why_ = why;
    socket_.reset();
    next_ = base::system_clock().now() + kRetry;
    return {};
  }
  void connect() {
    const stores::TcpAddress address = stores::resolve(place_.host, place_.port).front();
    socket_ = stores::make_tcp_socket(address.family());
    heard_.clear();
    is_said_ = false;
    nonces_ = {proof::make_nonce(), {}};
    if (::connect(socket_.get(), address.get(), address.size) != 0 && errno != EINPROGRESS) {
      fail(base::errno_text(errno));
    }
  }
  void greet() {
    is_said_ = say(socket_, std::string(kGreeting) + nonces_.connector);
    if (!is_said_ && errno != EAGAIN && errno != EINTR && errno != ENOTCONN) fail(base::errno_text(errno));
  }
  base::Fd prove(const std::string& secret, int own_rank) {
    nonces_.listener = heard_.substr(0, proof::kNonceSize);
    if (!proof::is_proof(heard_.substr(proof::kNonceSize), secret, kProtocol, proof::Side::Listener, nonces_)) {
      return fail("another process listens there, which does not know the group's secret");
    }
    const auto rank = static_cast<std::uint32_t>(own_rank);
    std::string last = proof::prove(secret, kProtocol, proof::Side::Connector, nonces_);
    last.append(reinterpret_cast<const char*>(&rank), sizeof rank);
    if (!say(socket_, last)) return fail(base::errno_text(errno));
    return std::move(socket_);
  }

  const int rank_;
  const Place place_;
  base::Fd socket_;
  base::TimePoint next_{};
  bool is_said_ = false;
  std::string heard_, why_;
  proof::Nonces nonces_;
};

// A connection that another process has opened.
class Caller {
 public:
  explicit Caller(base::Fd socket) : socket_(std::move(socket)) {}

  bool is_over() const noexcept { return is_over_ || base::system_clock().now() >= until_; }
  // Returns the group rank that the other end has proved to be, once.
  std::optional<int> step(const std::string& secret) {
    if (!hear(socket_, heard_, nonces_.listener.empty() ? kHelloSize : kLastSize)) is_over_ = true;
    if (is_over_) return std::nullopt;
    if (nonces_.listener.empty()) {
      if (heard_.size() == kHelloSize) answer(secret);
      return std::nullopt;
    }
    if (heard_.size() < kLastSize) return std::nullopt;
    is_over_ = true;
    const std::string claim = heard_.substr(0, proof::kProofSize);
    if (!proof::is_proof(claim, secret, kProtocol, proof::Side::Connector, nonces_)) return std::nullopt;
    std::uint32_t rank = 0;
    std::memcpy(&rank, heard_.data() + proof::kProofSize, sizeof rank);
    return static_cast<int>(rank);
  }
  base::Fd take_socket() noexcept { return std::move(socket_); }

 private:
  void answer(const std::string& secret) {
    if (!heard_.starts_with(kGreeting)) {
      is_over_ = true;
      return;
    }
    nonces_.connector = heard_.substr(kGreeting.size());
    nonces_.listener = proof::make_nonce();
    heard_.clear();
    std::string bytes = nonces_.listener;
    bytes += proof::prove(secret, kProtocol, proof::Side::Listener, nonces_);
    is_over_ = !say(socket_, bytes);
  }

  base::Fd socket_;
  const base::TimePoint until_ = base::system_clock().now() + kPatience;
  std::string heard_;
  proof::Nonces nonces_;  // the listener's is empty until the hello has arrived
  bool is_over_ = false;
};

class MirrorMeeting {
 public:
  MirrorMeeting(Store& store, const GroupInfo& group, const std::vector<std::string>& hosts, base::TimePoint deadline)
      : group_(group), deadline_(deadline), listening_(listen_here(core::hosts().address())), ranks_(hosts.size()) {
    const std::vector<Place> places = exchange_places(store);
    secret_ = store.get("far/secret");
    for (int rank = 0; rank < group_.size(); ++rank) {
      FarRank& each = ranks_[static_cast<std::size_t>(rank)];
      each.host = hosts[static_cast<std::size_t>(rank)];
      each.pid = places[static_cast<std::size_t>(rank)].pid;
      if (rank < group_.rank) calling_.emplace_back(rank, places[static_cast<std::size_t>(rank)]);
    }
  }

  std::vector<FarRank> run() {
    const Call start = start_until(deadline_);
    const std::string name = "connections of group " + group_.name;
    board::WaitInfo info;
    info.kind = board::WaitKind::Collective;
    info.name = name;
    info.rule = board::PeerRule::All;
    for (const int place : missing()) info.peers.add(group_.ranks[static_cast<std::size_t>(place)]);
    const bool are_here = core::poll_until(info, deadline_, kLongestRest, [this] { return step(); });
    if (!are_here) give_up(start);
    return std::move(ranks_);
  }

 private:
  std::vector<Place> exchange_places(Store& store) const {
    if (group_.rank == 0) store.set("far/secret", base::random_hex(32));
    std::vector<std::string> keys;
    for (int rank = 0; rank < group_.size(); ++rank) keys.push_back("far/" + std::to_string(rank));
    store.set(keys[static_cast<std::size_t>(group_.rank)],
              to_text({core::hosts().address(), stores::port_of(listening_.get()), ::getpid()}));
    wait_for_ranks(store, group_, keys, deadline_);
    std::vector<Place> places;
    for (const std::string& text : store.multi_get(keys)) places.push_back(parse_place(text));
    return places;
  }

  std::vector<int> missing() const {
    std::vector<int> places;
    for (int rank = 0; rank < group_.size(); ++rank) {
      if (rank != group_.rank && !ranks_[static_cast<std::size_t>(rank)].socket) places.push_back(rank);
    }
    return places;
  }

  // Returns whether all are connected.
  bool step() {
    calling_.remove_if([this](Calling& each) {
      base::Fd socket = each.step(secret_, group_.rank);
      if (!socket) return false;
      add(each.rank(), std::move(socket));
      return true;
    });
    accept_all();
    callers_.remove_if([this](Caller& each) {
      if (const auto rank = each.step(secret_)) add_caller(*rank, each.take_socket());
      return each.is_over();
    });
    const bool are_all_here = missing().empty();
    if (!are_all_here) look_for_deaths();
    return are_all_here;
  }
  void accept_all() {
    for (;;) {
      base::Fd socket(::accept4(listening_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
      if (!socket) return;
      const int on = 1;
      ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
      if (callers_.size() < kCallersMost) callers_.emplace_back(std::move(socket));
    }
  }
  void add_caller(int rank, base::Fd socket) {
    const bool is_awaited = rank > group_.rank && rank < group_.size();
    if (is_awaited && !ranks_[static_cast<std::size_t>(rank)].socket) add(rank, std::move(socket));
  }
  void add(int rank, base::Fd socket) {
    keep_alive(socket.get());
    ranks_[static_cast<std::size_t>(rank)].socket = std::move(socket);
  }

  void look_for_deaths() {
    const base::TimePoint now = base::system_clock().now();
    if (now < next_look_) return;
    next_look_ = now + kLook;
    if (!core::are_all_ranks(group_.ranks.size())) return;
    for (const int place : missing()) {
      const auto death = core::death_of(group_.ranks[static_cast<std::size_t>(place)]);
      if (!death) continue;
      core::rank_state().note_death(*death);
      throw base::PeerFailed(name_of(group_, CallKind::Barrier, 0) + ": " + core::text_of(*death), death->rank);
    }
  }

  [[noreturn]] void give_up(const Call& start) const {
    const auto failed =
        std::find_if(calling_.begin(), calling_.end(), [](const Calling& each) { return !each.why().empty(); });
    try {
      throw_timeout(group_, start, missing());
    } catch (const Error& error) {
      if (failed == calling_.end()) throw;
      throw Error(error.kind(), error.type(),
                  error.text() + "; " + ranks_text(group_, {failed->rank()}) + " cannot be reached: " + failed->why());
    }
  }

  const GroupInfo& group_;
  const base::TimePoint deadline_;
  const base::Fd listening_;
  std::string secret_;
  std::vector<FarRank> ranks_;
  std::list<Calling> calling_;
  std::list<Caller> callers_;
  base::TimePoint next_look_{};
};

}  // namespace

std::vector<FarRank> connect_ranks(Store& store, const GroupInfo& group, const std::vector<std::string>& hosts,
                                   base::TimePoint deadline) {
  return MirrorMeeting(store, group, hosts, deadline).run();
}

}  // namespace distrun::collectives::shm
