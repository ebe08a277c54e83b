// Each active call has a separate line; idle lines are reused. A call that ends without an answer closes its line,
// which cancels the request on the server.
#include <distrun/runtime/store/tcp_store.hpp>

#include <sys/eventfd.h>
#include <unistd.h>

#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <utility>

#include <distrun/common/base/deadline.hpp>
#include <distrun/common/base/error.hpp>
#include <distrun/common/base/leave_to_parent.hpp>
#include <distrun/common/base/process_mark.hpp>
#include <distrun/common/base/thread.hpp>
#include <distrun/common/store_server/store_server.hpp>
#include <distrun/common/store_server/tcp_address.hpp>
#include <distrun/common/store_server/tcp_protocol.hpp>
#include <distrun/runtime/core/deaths.hpp>
#include <distrun/runtime/core/inline_function.hpp>
#include <distrun/runtime/store/tcp_line.hpp>
#include <distrun/runtime/store/waiting.hpp>
#include <distrun/runtime/store/watches.hpp>

namespace distrun::stores {
namespace {

using namespace std::chrono_literals;
using base::Nanoseconds;
using base::TimePoint;

constexpr std::size_t kRestingMax = 64;
constexpr auto kGrace = 10s;  // a live server reports a timeout itself
constexpr char kWorkers[] = "init/";
constexpr char kAsks[] = "uses a TCP store";  // in core::refuse_in_inline_function()

// A descriptor that becomes readable once a rank has failed, for poll().
class FailureSignal {
 public:
  FailureSignal()
      : event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)), call_(core::rank_state(), [this](const auto&) {
          const std::uint64_t one = 1;
          (void)!::write(event_.get(), &one, sizeof one);
        }) {
    if (!event_) base::throw_errno("cannot create an event", errno);
  }
  int fd() const noexcept { return event_.get(); }

 private:
  base::Fd event_;
  core::PeerFailedCall call_;
};

Nanoseconds left_until(TimePoint deadline) {
  return std::max(Nanoseconds(0), std::chrono::duration_cast<Nanoseconds>(deadline - base::system_clock().now()));
}

}  // namespace

std::string default_store_secret() {
  const char* const secret = std::getenv("DISTRUN_STORE_SECRET");
  return secret != nullptr ? secret : "";
}

class TcpStore::Impl {
 public:
  Impl(std::string host, const TcpStoreOptions& options) : host_(std::move(host)), secret_(options.secret) {
    if (options.is_server) server_.emplace(host_, options.port, secret_);
    port_ = server_ ? server_->port() : options.port;
    resting_.reserve(kRestingMax);
    std::unique_ptr<TcpLine> first =
        connect({base::deadline_after(options.timeout), options.timeout}, TcpLine::Unserved::Early);
    server_process_ = first->server();
    rest(std::move(first));
  }
  ~Impl() { stop_watching(); }

  bool is_inherited() const noexcept { return mark_.is_inherited(); }
  // In a forked process, and in an inline function of RPC: the server may be another rank.
  void refuse_if_barred(Location site) const {
    core::refuse_in_inline_function(kAsks, site);
    if (!mark_.is_inherited()) return;
    mark_.refuse("the TCP store at " + place_of(host_, port_), "open the store again in this process", site);
  }

  const std::string& host() const noexcept { return host_; }
  std::uint16_t port() const noexcept { return port_; }
  std::string refusals() const;

  Reply run(const Request& request, const WaitLimit& limit, Location site);
  void watch(const std::string& key, Watch watch);

 private:
  std::unique_ptr<TcpLine> connect(const WaitLimit& limit, TcpLine::Unserved unserved = TcpLine::Unserved::Gone) const {
    board::WaitInfo info;
    info.kind = board::WaitKind::StoreGet;
    info.name = "the server of a store";
    const core::Wait wait(info, limit.deadline);
    const FailureSignal failure;
    try {
      return std::make_unique<TcpLine>(host_, port_, secret_, limit, failure.fd(), unserved, server_process_);
    } catch (Error& error) {
      if (core::rank_state().has_failed_peer()) core::throw_peer_failed("connecting to a store");
      error.with_cause(server_process_.rank);
      throw;
    }
  }
  std::unique_ptr<TcpLine> take_line(const WaitLimit& limit);
  void rest(std::unique_ptr<TcpLine> line) noexcept;
  static std::optional<wire::Frame> receive(TcpLine& line, const std::string& key, TimePoint deadline, int give_up,
                                            Location site);
  std::optional<wire::Frame> ask(TcpLine& line, const Request& request, const WaitLimit& limit, Location site);
  void begin_watching(const WaitLimit& limit);
  void follow(const std::string& key, TimePoint deadline);
  Error no_answer(const std::string& doing, Location site) const;
  void end_watching();
  void follow_changes();
  void take(const wire::Frame& frame);
  void stop_watching();

  const std::string host_;
  const std::string secret_;
  const base::ProcessMark mark_;
  std::optional<StoreServer> server_;
  std::uint16_t port_ = 0;
  ServerProcess server_process_;  // set when it is reached
  std::mutex mutex_;
  // Guarded by mutex_.
  std::vector<std::unique_ptr<TcpLine>> resting_;
  Watches watches_;
  // State of the thread that receives changes, which the first watch starts.
  std::unique_ptr<TcpLine> watching_;
  base::Fd end_of_watching_;
  int lines_ = 0;      // that were begun
  int followed_ = 0;   // keys that the server was asked to follow on the latest line
  int confirmed_ = 0;  // of these, how many it has confirmed
  bool lost_ = false;
  std::condition_variable confirmed_changed_;
  std::optional<base::Thread> watcher_;
};

// Returns a note on refused connections for the text of a timeout; empty if no connection was refused.
std::string TcpStore::Impl::refusals() const {
  const int refused = server_ ? server_->refused() : 0;
  if (refused == 0) return "";
  return " " + std::to_string(refused) + (refused == 1 ? " connection was" : " connections were") +
         " refused because of another secret or another version of distrun.";
}

std::unique_ptr<TcpLine> TcpStore::Impl::take_line(const WaitLimit& limit) {
  {
    const std::lock_guard lock(mutex_);
    if (!resting_.empty()) {
      std::unique_ptr<TcpLine> line = std::move(resting_.back());
      resting_.pop_back();
      return line;
    }
  }
  return connect(limit);
}

// Does not allocate: the vector has its full capacity.
void TcpStore::Impl::rest(std::unique_ptr<TcpLine> line) noexcept {
  const std::lock_guard lock(mutex_);
  if (resting_.size() < kRestingMax) resting_.push_back(std::move(line));
}

std::optional<wire::Frame> TcpStore::Impl::ask(TcpLine& line, const Request& request, const WaitLimit& limit,
                                               Location site) {
  std::string name;
  const core::Wait wait(wait_for(request, name, site), limit.deadline);
  const FailureSignal failure;
  const TimePoint deadline = base::deadline_after(kGrace, limit.deadline);
  const Ask asked{0, left_until(limit.deadline).count(), limit.timeout.count(), request};
  if (!line.send(wire::pack(StoreFrame::Ask, 0, asked), deadline, failure.fd())) return std::nullopt;
  if (auto frame = receive(line, name, deadline, failure.fd(), site)) return frame;
  const TimePoint last = base::system_clock().now() + kGrace;
  if (!line.send(wire::pack(StoreFrame::Cancel, 0, Cancel{0}), last, -1)) return std::nullopt;
  return line.receive(last, -1);
}

// Returns nothing as TcpLine::receive(). Throws base::PeerFailed if a rank that must write the key has died.
std::optional<wire::Frame> TcpStore::Impl::receive(TcpLine& line, const std::string& key, TimePoint deadline,
                                                   int give_up, Location site) {
  for (AwaitedDeaths deaths;;) {
    const auto death = deaths.find();  // its last writes may still be in flight
    if (auto frame = line.receive(deaths.next(deadline), give_up)) return frame;
    if (death) throw_awaited_death("waiting for the key " + key, *death, site);
    if (core::rank_state().has_failed_peer() || base::system_clock().now() >= deadline) return std::nullopt;
  }
}

Reply TcpStore::Impl::run(const Request& request, const WaitLimit& limit, Location site) {
  refuse_if_barred(site);
  const std::string doing = "waiting for " + (request.keys.empty() ? "the store" : "the key " + request.keys[0]);
  std::unique_ptr<TcpLine> line = take_line(limit);
  const auto frame = ask(*line, request, limit, site);
  if (!frame) throw no_answer(doing, site);
  rest(std::move(line));
  if (frame->is(StoreFrame::Answer)) return wire::decode<Answer>(wire::view_of(frame->payload)).reply;
  const wire::ErrorFields why = wire::decode<Refusal>(wire::view_of(frame->payload)).error;
  const ErrorKind kind = wire::error_kind(why.kind);
  if (kind == ErrorKind::Cancelled) core::throw_peer_failed(doing, site);
  throw Error(kind, why.type, why.text + (kind == ErrorKind::Timeout ? awaited_text() : ""), site);
}

Error TcpStore::Impl::no_answer(const std::string& doing, Location site) const {
  Error error(ErrorKind::Timeout, "DistStoreError",
              doing + ": the server of the store, at " + place_of(host_, port_) + ", does not answer", site);
  return error.with_cause(server_process_.rank);
}

void TcpStore::Impl::follow(const std::string& key, TimePoint deadline) {
  if (watching_->send(wire::pack(StoreFrame::FollowKey, 0, FollowKey{key}), deadline, -1)) return;
  throw no_answer("watching the key " + key, Location::here());
}

// Returns when the server has confirmed the watch.
void TcpStore::Impl::watch(const std::string& key, Watch watch) {
  refuse_if_barred(Location::here());
  const TimePoint deadline = base::system_clock().now() + kGrace;
  board::WaitInfo info;
  info.kind = board::WaitKind::StoreGet;
  info.name = key;
  std::unique_lock lock(mutex_);
  if (lost_) end_watching();
  if (!watcher_) begin_watching({deadline, kGrace});
  const Watches::Added added = watches_.add(key, std::move(watch));
  try {
    follow(key, deadline);
    const int number = ++followed_;
    const auto is_lost = [&, line = lines_] {
      return lost_ || lines_ != line;
    };  // another thread may have begun the next one
    const auto is_followed = [&] { return confirmed_ >= number || is_lost(); };
    const core::WaitEnd end = core::wait_for_peers(info, lock, confirmed_changed_, deadline, is_followed);
    if (end == core::WaitEnd::PeerFailed) core::throw_peer_failed("watching the key " + key);
    if (end == core::WaitEnd::Timeout || is_lost()) {
      throw Error(ErrorKind::Disconnected,
                  "watching the key " + key + ": the server of the store, at " + place_of(host_, port_) + ", is gone")
          .with_cause(server_process_.rank);
    }
  } catch (...) {  // who watches again is not to be called twice
    watches_.remove(added);
    throw;
  }
}

// Counts what it has asked for only when the thread runs that counts the answers.
void TcpStore::Impl::begin_watching(const WaitLimit& limit) {
  watching_ = connect(limit);
  end_of_watching_.reset(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!end_of_watching_) base::throw_errno("cannot create an event", errno);
  const std::vector<std::string> before = watches_.keys();  // watched before the line was lost
  for (const std::string& key : before) {
    follow(key, limit.deadline);
  }
  watcher_.emplace("distrun-watch", [this] { follow_changes(); });
  followed_ = static_cast<int>(before.size());
  ++lines_;
}

// The line was lost, so its thread no longer needs the mutex.
void TcpStore::Impl::end_watching() {
  watcher_.reset();
  followed_ = confirmed_ = 0;
  lost_ = false;
}

// Runs until the store or its server ends; then threads that wait for a confirmation are notified.
void TcpStore::Impl::follow_changes() {
  try {
    while (const auto frame = watching_->receive(TimePoint::max(), end_of_watching_.get())) take(*frame);
  } catch (const std::exception&) {  // ours, or std::bad_alloc
    const std::lock_guard lock(mutex_);
    lost_ = true;
  }
  confirmed_changed_.notify_all();
}

void TcpStore::Impl::take(const wire::Frame& frame) {
  const std::lock_guard lock(mutex_);
  if (frame.is(StoreFrame::Changed)) {
    auto changed = wire::decode<Changed>(wire::view_of(frame.payload));
    watches_.tell({{std::move(changed.key), std::move(changed.before), std::move(changed.after)}});
  } else {
    ++confirmed_;
    confirmed_changed_.notify_all();
  }
}

void TcpStore::Impl::stop_watching() {
  if (!watcher_) return;
  const std::uint64_t one = 1;
  (void)!::write(end_of_watching_.get(), &one, sizeof one);
  watcher_->join();
}

namespace {

const TcpStoreOptions& checked(const TcpStoreOptions& options) {
  core::refuse_in_inline_function(kAsks, base::Location::here());
  if (options.world_size != 0) return options;
  throw Error(ErrorKind::InvalidArgument,
              "the world size of a TCP store is 0; it must be at least 1, or -1 if users are not counted");
}

}  // namespace

TcpStore::TcpStore(const std::string& host, TcpStoreOptions options)
    : impl_(std::make_unique<Impl>(host, checked(options))) {
  set_timeout(options.timeout);
  if (options.world_size < 0) return;
  add(kWorkers, 1);
  if (options.is_server && options.wait_for_workers) wait_for_workers(options.world_size);
}

// In a forked process, leaves the parent's threads and connections alone.
TcpStore::~TcpStore() {
  if (impl_->is_inherited()) base::leave_to_parent(std::move(impl_));
}
const std::string& TcpStore::host() const noexcept { return impl_->host(); }
std::uint16_t TcpStore::port() const noexcept { return impl_->port(); }
void TcpStore::watch(const std::string& key, Watch watch) { impl_->watch(key, std::move(watch)); }
Reply TcpStore::run(const Request& request, const WaitLimit& limit, Location site) {
  return impl_->run(request, limit, site);
}

namespace {

// Returns which ranks have died, for the text of a timeout: clients are mostly ranks. Empty: none.
std::string dead_text(int world_size) {
  std::string text;
  for (int rank = 0; rank < world_size; ++rank) {
    if (const auto death = core::death_of(rank)) text += (text.empty() ? " " : "; ") + core::text_of(*death);
  }
  return text;
}

}  // namespace

void TcpStore::wait_for_workers(int world_size) {
  board::WaitInfo info;
  info.kind = board::WaitKind::StoreGet;
  info.name = "clients of the store";
  std::int64_t come = 0;
  const bool are_all_here = core::poll_until(info, base::deadline_after(timeout()), 5ms, [&] {
    come = add(kWorkers, 0);
    return come >= world_size;
  });
  if (are_all_here) return;
  throw Error(ErrorKind::Timeout, "DistStoreError",
              "Timed out after " + base::human(timeout()) + " waiting for clients. " + std::to_string(come) + "/" +
                  std::to_string(world_size) + " clients joined." + impl_->refusals() + dead_text(world_size));
}

}  // namespace distrun::stores
