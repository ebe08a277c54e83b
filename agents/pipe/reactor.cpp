#include <agents/pipe/reactor.hpp>

#include <sched.h>

#include <limits>
#include <utility>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/if_memory.hpp>
#include <distrun/runtime/core/cpus.hpp>

namespace distrun::agents::pipe {
namespace {

using namespace std::chrono_literals;

constexpr int kBatch = 32;              // messages read from one link per visit
constexpr int kHotPolls = 40;           // a few microseconds: longer than a reply from a distant core takes
constexpr int kBellAfter = 60;          // polls without a reply before owed bells are rung
constexpr int kClockEvery = 16;         // polls between two reads of the clock
constexpr int kDrains = 4;              // rounds before a departing waiter hands over what still arrives
constexpr auto kWorkerPatience = 50us;  // since the last message: the next one mostly arrives within that
constexpr auto kWaiterPatience = 1ms;   // after this long, one more wake-up is cheap by comparison

constinit thread_local bool is_idling = false;  // whether this thread is a worker in idle()
// The peer whose message this thread delivers; null: none.
constinit thread_local const rpc::WorkerInfo* delivering = nullptr;

void rest(int look, int hot) noexcept {
  if (look < hot) {
    __builtin_ia32_pause();
  } else {
    ::sched_yield();
  }
}

// How long a waiter polls: until nothing has arrived for a while, or its deadline. Reads the clock now and then.
class Patience {
 public:
  explicit Patience(base::TimePoint deadline) noexcept : deadline_(deadline) {}

  int look() const noexcept { return look_; }
  void begin_anew() noexcept { look_ = 0, since_ = 0; }
  // Called after each poll that found nothing.
  bool is_over() noexcept {
    if (++look_ % kClockEvery != 0) return false;
    const std::int64_t now = monotonic_ns();
    if (since_ == 0) since_ = now;
    return now - since_ > base::Nanoseconds(kWaiterPatience).count() || base::system_clock().now() >= deadline_;
  }

 private:
  const base::TimePoint deadline_;
  int look_ = 0;
  std::int64_t since_ = 0;  // 0: not read yet
};

}  // namespace

Reactor::Reactor(future::HandlerPool& pool, rpc::Receiver& receiver)
    : pool_(pool), receiver_(receiver), hot_polls_(0), latest_(std::make_shared<Links>()) {
  door_.set_parked(monotonic_ns());
}

Reactor::~Reactor() = default;

// If there are more ranks than cores, another rank has to run before anything can arrive.
void Reactor::set_links(std::vector<std::shared_ptr<Link>> links) {
  const int workers = static_cast<int>(links.size()) + 1;
  auto latest = std::make_shared<const Links>(std::move(links));
  hot_polls_.store(workers <= core::cpus() ? kHotPolls : 0);
  {
    const std::lock_guard lock(mutex_);
    latest_.swap(latest);
    version_.fetch_add(1);
  }
  rouse();
}

void Reactor::rouse() noexcept { door_.ring(); }

const Reactor::Links& Reactor::links() noexcept {
  if (polled_ == nullptr || polled_version_ != version_.load(std::memory_order_acquire)) {
    const std::lock_guard lock(mutex_);
    polled_ = latest_;
    polled_version_ = version_.load();
  }
  return *polled_;
}

void Reactor::deliver(const rpc::WorkerInfo& from, rpc::Message message) noexcept {
  const Upcalls::Inside inside(upcalls_);
  const rpc::WorkerInfo* const before = std::exchange(delivering, &from);
  auto task = inside ? receiver_.receive(from, std::move(message)) : nullptr;
  delivering = before;
  if (task == nullptr) return;
  found_.fetch_add(1, std::memory_order_relaxed);
  try {
    if (is_idling) {
      pool_.post_found(std::move(task));
    } else {
      pool_.post(std::move(task));
    }
  } catch (const std::exception&) {
    return;  // the task reports that it did not run
  }
}

bool Reactor::poll(Link& link, bool with_sockets) noexcept {
  bool moved = false;
  if (link.has_input()) {
    moved = link.read(*this, kBatch) != 0;
  } else if (with_sockets && link.state() == Link::State::Up && !link.is_shm()) {
    // Read everything: epoll does not report bytes again that were taken out of a socket.
    moved = link.read(*this, std::numeric_limits<int>::max()) != 0;
  }
  if (moved && link.is_over()) tell_end(link);
  if (link.has_queue() && link.flush()) moved = true;
  return moved;
}

bool Reactor::poll(bool with_sockets) noexcept {
  bool moved = false;
  for (const auto& each : links()) moved |= poll(*each, with_sockets);
  return moved;
}

bool Reactor::any_ready(const Links& links) noexcept {
  for (const auto& each : links) {
    if (each->is_ready() && !each->is_over()) return true;
  }
  return false;
}

std::shared_ptr<const Reactor::Links> Reactor::latest() noexcept {
  const std::lock_guard lock(mutex_);
  return latest_;
}

void Reactor::pay_bells() noexcept {
  for (const auto& each : links()) {
    if (each->owes_bell()) each->pay_bell();
  }
}

// Returns false if something has arrived meanwhile; the caller then owns again. Also if a peer has rung: a worker woken
// before the owner was cleared could not own, and sleeps although the door says polling. A thread that publishes or
// begins a link rings the door afterwards, which has no effect until the door is parked; so the current links are
// checked.
bool Reactor::let_go() noexcept {
  pay_bells();
  door_.set_parked(monotonic_ns());
  owner_.store(0);
  const bool is_over = Door::is_parked(door_.state()) && !any_ready(*latest());
  if (is_over || !try_own()) return true;
  set_polling();
  return false;
}

void Reactor::drain_and_let_go() noexcept {
  for (int round = 0; round < kDrains; ++round) {
    poll(false);
    if (let_go()) return;
  }
  pay_bells();
  owner_.store(0);  // the door says polling: a worker woken now becomes the owner
  door_.wake();
}

bool Reactor::take_wake() noexcept {
  int there = wakes_.load();
  while (there > 0) {
    if (wakes_.compare_exchange_weak(there, there - 1)) return true;
  }
  return false;
}

void Reactor::wake() noexcept {
  wakes_.fetch_add(1);
  door_.wake();
}

// Runs as the owner until there is a task or a wake-up (returns true), or nothing to do (returns false).
bool Reactor::attend() noexcept {
  set_polling();
  std::int64_t last = monotonic_ns();
  const int hot = hot_polls_.load(std::memory_order_relaxed);
  for (int look = 0;; ++look) {
    const std::size_t before = found_.load(std::memory_order_relaxed);
    const bool moved = poll(false);
    const bool has_task = found_.load(std::memory_order_relaxed) != before;
    if (has_task || take_wake()) {
      drain_and_let_go();
      return true;
    }
    if (moved) {
      last = monotonic_ns();
      look = 0;
      continue;
    }
    if (wanted_.load() > 0) {
      leave_to_waiter();
      return false;
    }
    if (look % kClockEvery == kClockEvery - 1 && monotonic_ns() - last > base::Nanoseconds(kWorkerPatience).count() &&
        let_go()) {
      return false;
    }
    rest(look, hot);
  }
}

void Reactor::leave_to_waiter() noexcept {
  pay_bells();
  owner_.store(0);
  if (wanted_.load() == 0 && try_own()) drain_and_let_go();
}

// A worker that comes from a task polls for a moment before it sleeps: a peer that got an answer often calls again.
void Reactor::idle(base::TimePoint until) noexcept {
  is_idling = true;
  for (bool is_first = true;; is_first = false) {
    const std::uint32_t state = door_.state();
    if (upcalls_.is_closed() || take_wake()) break;
    const bool is_left = !Door::is_parked(state) && wanted_.load() == 0;
    if ((is_first || is_left || any_ready(*latest())) && try_own()) {
      if (attend()) break;
      continue;
    }
    door_.sleep(state, until);
    if (until != base::TimePoint::max() && base::system_clock().now() >= until) break;
  }
  is_idling = false;
}

void Reactor::help(const Awaited& awaited, base::TimePoint deadline) noexcept {
  const int hot = hot_polls_.load(std::memory_order_relaxed);
  for (Patience patience(deadline); !awaited.is_there() && !patience.is_over();) {
    if (try_own()) {
      const bool is_over = wait_as_owner(awaited, deadline);
      drain_and_let_go();
      if (is_over) return;
      continue;
    }
    wanted_.fetch_add(1);
    rest(patience.look(), hot);
    wanted_.fetch_sub(1);
  }
  take_what_was_left();
}

// A worker may have yielded ownership to this waiter, which does not need it any more.
void Reactor::take_what_was_left() noexcept {
  if (!Door::is_parked(door_.state()) && try_own()) drain_and_let_go();
}

// Returns true if the thread had better sleep.
bool Reactor::wait_as_owner(const Awaited& awaited, base::TimePoint deadline) noexcept {
  set_polling();
  const int hot = hot_polls_.load(std::memory_order_relaxed);
  for (Patience patience(deadline); !awaited.is_there();) {
    if (poll(true)) {
      patience.begin_anew();
      continue;
    }
    if (patience.is_over()) return true;
    if (patience.look() == kBellAfter) pay_bells();
    rest(patience.look(), hot);
  }
  return false;
}

void Reactor::read_all(Link& link) noexcept {
  while (link.read(*this, kBatch) == kBatch) {
  }
  if (link.is_over()) tell_end(link);
}

void Reactor::tell_end(Link& link) noexcept {
  if (delivering == &link.peer()) return;  // the thread reports it once it has delivered
  const Upcalls::Inside inside(upcalls_);
  if (!inside) return;
  if (const std::optional<Error> why = link.take_end()) receiver_.lose(link.peer(), *why);
}

void Reactor::close() noexcept {
  upcalls_.close();
  door_.wake();
  upcalls_.wait_until_none();
}

// Futures may keep a reactor longer than its agent exists.
void Reactor::forget_links() noexcept {
  base::if_memory([this] { set_links({}); });
  if (!try_own()) return;  // a waiter owns the reactor, and releases them itself
  links();
  owner_.store(0);
}

}  // namespace distrun::agents::pipe
