#include <agents/pipe/io_thread.hpp>

#include <sched.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include <distrun/common/base/check.hpp>
#include <distrun/common/base/error.hpp>
#include <distrun/common/base/if_memory.hpp>
#include <distrun/runtime/core/hosts.hpp>
#include <distrun/runtime/core/rank_state.hpp>

namespace distrun::agents::pipe {
namespace {

using namespace std::chrono_literals;

// After bytes have arrived the I/O thread polls for this long before it sleeps: a busy peer answers within a few
// microseconds, and a wake-up costs 10 to 20.
constexpr base::Nanoseconds kAlert = 50us;

// max() disarms the timer; a time in the past expires at once.
itimerspec spec_of(base::TimePoint at) noexcept {
  itimerspec spec{};
  if (at == base::TimePoint::max()) return spec;
  const auto ns = std::max<std::int64_t>(1, base::Nanoseconds(at.time_since_epoch()).count());
  spec.it_value.tv_sec = ns / 1'000'000'000;
  spec.it_value.tv_nsec = ns % 1'000'000'000;
  return spec;
}

void drain(int fd) noexcept {
  std::uint64_t count = 0;
  while (::read(fd, &count, sizeof count) < 0 && errno == EINTR) {
  }
}

// Adds this worker's host and rank, if there are several hosts, and the pid, which stays that of the listening process,
// also in a process forked from it.
std::string with_process(const Address& address) {
  const core::Hosts& hosts = core::known_hosts();
  std::string where;
  if (!hosts.name().empty()) {
    const int rank = core::rank_state().number();
    where = ";host:" + hosts.name() + ";rank:" + std::to_string(rank >= 0 ? rank : hosts.rank());
  }
  return to_string(address) + where + ";pid:" + std::to_string(::getpid());
}

Identity with_address(Identity own, const std::string& address) {
  own.address = address;
  return own;
}

}  // namespace

IoThread::IoThread(Identity own, Listener listener, IoThreadEvents& events, base::Nanoseconds limit)
    : events_(events),
      address_(with_process(listener.address())),
      watches_(poller_),
      meetings_(with_address(std::move(own), address_), std::move(listener), events, poller_, watches_, limit),
      wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      timerfd_(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK)) {
  if (!wake_ || !timerfd_) base::throw_errno("cannot create a timer", errno);
}

IoThread::~IoThread() { close(); }

void IoThread::start() {
  const std::lock_guard lock(closing_);
  if (is_closing_) return;
  DISTRUN_ASSERT(!thread_.has_value());
  poller_.add(wake_.get(), EPOLLIN, {PollKind::Wake, 0});
  poller_.add(timerfd_.get(), EPOLLIN, {PollKind::Timer, 0});
  meetings_.start();
  thread_.emplace("distrun-rpc-io", [this] { run(); });
}

void IoThread::close() noexcept {
  const std::lock_guard lock(closing_);
  {
    const std::lock_guard requests(mutex_);
    if (is_closing_.exchange(true)) return;
    const std::uint64_t one = 1;
    (void)!::write(wake_.get(), &one, sizeof one);
  }
  if (thread_) thread_->join();
  meetings_.close();
  watches_.clear();
  const std::lock_guard requests(mutex_);
  requests_.clear();
  wake_.reset();
  timerfd_.reset();
  poller_.close();
}

IoThread::Requests IoThread::request(rpc::WorkerKey peer, std::string name, const std::string& address) {
  return {{peer, std::move(name), parse_address(address)}};
}

void IoThread::connect(Requests request) noexcept { post(std::move(request)); }

void IoThread::watch(WorkerId peer, int fd, bool readable) { watches_.watch(peer, fd, readable); }

void IoThread::want_writable(WorkerId peer) noexcept { watches_.want_writable(peer); }

void IoThread::forget(WorkerId peer) noexcept {
  watches_.forget(peer);
  base::if_memory([&] { post({{peer, {}, {}}}); });
}

void IoThread::forget_here(WorkerId peer) noexcept {
  watches_.forget(peer);
  meetings_.cancel(peer);
}

void IoThread::set_timer(base::TimePoint at) noexcept {
  const std::lock_guard lock(mutex_);
  timer_ = std::min(timer_, at);
  if (timer_ < armed_) arm(timer_);
}

void IoThread::post(Requests request) noexcept {
  const std::lock_guard lock(mutex_);
  if (is_closing_) return;
  const bool is_first = requests_.empty();
  requests_.splice(requests_.end(), request);
  const std::uint64_t one = 1;
  if (is_first) (void)!::write(wake_.get(), &one, sizeof one);
}

void IoThread::run() {
  base::TimePoint alert_until{};
  while (!is_closing_) {
    const bool sleeps = base::system_clock().now() >= alert_until;
    const std::span<const Polled> ready = poller_.wait(sleeps);
    if (ready.empty()) {
      if (!sleeps) ::sched_yield();
      continue;
    }
    has_read_ = false;
    for (const Polled& polled : ready) {
      if (is_closing_) return;
      try {
        handle(polled);
      } catch (const std::exception&) {
        continue;  // no memory: it is reported again
      }
    }
    if (has_read_) alert_until = base::system_clock().now() + kAlert;
    const std::lock_guard lock(mutex_);
    const base::TimePoint next = std::min(timer_, meetings_.next_time());
    if (next != armed_) arm(next);
  }
}

void IoThread::handle(const Polled& polled) {
  switch (polled.token.kind) {
    case PollKind::Wake: return handle_requests();
    case PollKind::Timer: return handle_timer();
    case PollKind::Watched: return handle_watched(polled);
    default: return meetings_.handle(polled);
  }
}

void IoThread::handle_watched(const Polled& polled) {
  const auto seen = watches_.see(polled);
  if (!seen) return;
  if (seen->writable) events_.writable(seen->peer);
  if (seen->readable) {
    has_read_ = true;
    events_.readable(seen->peer);
  }
  if (const auto why = watches_.take_end(polled)) events_.ended(seen->peer, *why);
}

void IoThread::handle_requests() noexcept {
  drain(wake_.get());
  Requests requests;
  {
    const std::lock_guard lock(mutex_);
    requests.swap(requests_);
  }
  for (Request& request : requests) {
    if (request.address.empty()) {
      meetings_.cancel(request.peer.id);
    } else {
      meetings_.connect(request.peer, std::move(request.name), std::move(request.address));
    }
  }
}

void IoThread::handle_timer() {
  drain(timerfd_.get());
  const base::TimePoint at = base::system_clock().now();
  bool is_due = false;
  {
    const std::lock_guard lock(mutex_);
    armed_ = base::TimePoint::max();
    is_due = at >= timer_;
    if (is_due) timer_ = base::TimePoint::max();
  }
  meetings_.check_time(at);
  if (!is_due) return;
  const base::TimePoint next = events_.on_timer();
  const std::lock_guard lock(mutex_);
  timer_ = std::min(timer_, next);
}

// Requires mutex_.
void IoThread::arm(base::TimePoint at) noexcept {
  const itimerspec spec = spec_of(at);
  armed_ = at;
  if (timerfd_) ::timerfd_settime(timerfd_.get(), TFD_TIMER_ABSTIME, &spec, nullptr);
}

}  // namespace distrun::agents::pipe
