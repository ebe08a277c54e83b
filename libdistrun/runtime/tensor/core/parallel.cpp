#include <distrun/runtime/tensor/core/parallel.hpp>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>

#include <distrun/common/base/clock.hpp>
#include <distrun/common/base/error.hpp>
#include <distrun/common/base/process_mark.hpp>
#include <distrun/common/base/thread.hpp>

namespace distrun::tensor {
namespace {

constexpr std::int64_t kPartsEach = 4;  // per thread, so that a delayed thread leaves work to the others

// 0: no guard is active.
constinit std::atomic<int> guarded = 0;

int threads_told() noexcept {
  const char* text = std::getenv("DISTRUN_THREADS");
  int number = 1;
  if (text != nullptr) std::from_chars(text, text + std::strlen(text), number);
  return std::clamp(number, 1, kMostThreads);
}

// Loops often follow each other closely, and waking a thread takes longer than many of them: a waiting thread polls for
// this long before it sleeps.
constexpr base::Nanoseconds kLook = std::chrono::microseconds(40);

template <class IsReady>
void look_for(const IsReady& is_ready) noexcept {
  const base::TimePoint end = base::system_clock().now() + kLook;
  for (int looks = 1; !is_ready(); ++looks) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
    if (looks % 64 == 0 && base::system_clock().now() > end) return;
  }
}

// A loop in progress.
struct Loop {
  detail::PartBody body{};
  std::int64_t count = 0;
  std::int64_t part = 1;  // elements per part
  std::atomic<std::int64_t> next = 0;

  void work() noexcept {
    for (std::int64_t first; (first = next.fetch_add(part, std::memory_order_relaxed)) < count;) {
      body.run(body.body, first, std::min(count, first + part));
    }
  }
};

// Decides when helpers do not pay off. Used by one thread at a time.
class Patience {
 public:
  bool is_over() noexcept { return without_ > 0 && without_-- > 0; }
  void note(base::Nanoseconds worked, base::Nanoseconds waited) noexcept {
    if (waited > worked / 2 + kLate) {
      without_ = next_;
      next_ = std::min(2 * next_, kMost);
    } else {
      next_ = std::max(next_ / 2, kFirst);
    }
  }

 private:
  static constexpr base::Nanoseconds kLate = std::chrono::microseconds(100);
  static constexpr int kFirst = 8, kMost = 4096;  // loops
  int without_ = 0;
  int next_ = kFirst;
};

// The process's threads and the loop that they help with. One loop at a time; others run on their caller alone. Never
// destroyed: its threads live as long as the process.
class Team {
 public:
  // Returns false if a loop is running already, or helpers do not pay off.
  bool run(detail::PartBody body, std::int64_t count, std::int64_t part, int threads) noexcept {
    if (is_busy_.test_and_set(std::memory_order_acquire)) return false;
    const bool pays = !patience_.is_over();
    if (pays) run_with_helpers(body, count, part, threads);
    is_busy_.clear(std::memory_order_release);
    return pays;
  }
  bool is_own() const noexcept { return !mark_.is_inherited(); }

 private:
  void run_with_helpers(detail::PartBody body, std::int64_t count, std::int64_t part, int threads) noexcept {
    begin(body, count, part, threads);
    const base::TimePoint begun = base::system_clock().now();
    loop_.work();
    const base::TimePoint worked = base::system_clock().now();
    end();
    patience_.note(worked - begun, base::system_clock().now() - worked);
  }
  void begin(detail::PartBody body, std::int64_t count, std::int64_t part, int threads) noexcept {
    loop_.body = body;
    loop_.count = count;
    loop_.part = part;
    loop_.next.store(0, std::memory_order_relaxed);
    int asleep = 0;
    {
      const std::lock_guard lock(mutex_);
      wanted_ = threads - 1;
      asleep = asleep_;
    }
    while (made_ < threads - 1 && make_helper()) ++made_;
    for (int i = 0; i < std::min(asleep, threads - 1); ++i) begun_.notify_one();
  }
  void end() noexcept {
    {
      const std::lock_guard lock(mutex_);
      wanted_ = 0;
    }
    const auto is_alone = [this] { return inside_ == 0; };
    look_for(is_alone);
    std::unique_lock lock(mutex_);
    left_.wait(lock, is_alone);
  }
  bool make_helper() noexcept {
    try {
      base::Thread("distrun-op", [this] { help(); }).leave_running();
      return true;
    } catch (const Error&) {
      return false;  // the existing helpers do the work
    }
  }
  [[noreturn]] void help() noexcept {
    const auto is_wanted = [this] { return wanted_ > 0; };
    for (;;) {
      look_for(is_wanted);
      std::unique_lock lock(mutex_);
      ++asleep_;
      begun_.wait(lock, is_wanted);
      --asleep_;
      --wanted_;
      ++inside_;
      lock.unlock();
      loop_.work();
      lock.lock();
      if (--inside_ == 0) left_.notify_one();
    }
  }

  const base::ProcessMark mark_;
  std::atomic_flag is_busy_;  // a loop is running; the thread that set it owns the members below
  Patience patience_;
  int made_ = 0;  // helpers
  Loop loop_;     // helpers read it too: it changes only while none is inside

  std::mutex mutex_;
  std::condition_variable begun_, left_;
  // Changed with mutex_ held.
  std::atomic<int> wanted_ = 0;  // helpers that may still join
  std::atomic<int> inside_ = 0;
  int asleep_ = 0;  // or about to sleep
};

// After a fork the threads are gone, and one of them may have held the mutex: the child gets a new team.
Team& team() {
  constinit static std::atomic<Team*> current = nullptr;
  Team* found = current.load(std::memory_order_acquire);
  if (found != nullptr && found->is_own()) [[likely]]
    return *found;
  auto* made = new Team;
  if (current.compare_exchange_strong(found, made, std::memory_order_acq_rel)) return *made;
  delete made;  // another thread was faster
  return *found;
}

}  // namespace

int threads() noexcept {
  const int number = guarded.load(std::memory_order_relaxed);
  return number != 0 ? number : threads_told();
}

ThreadsGuard::ThreadsGuard(int threads) : before_(guarded.load(std::memory_order_relaxed)) {
  if (threads < 1 || threads > kMostThreads) {
    throw Error(ErrorKind::InvalidArgument, "ThreadsGuard: an operator may use 1 to " + std::to_string(kMostThreads) +
                                                " threads, not " + std::to_string(threads));
  }
  guarded.store(threads, std::memory_order_relaxed);
}
ThreadsGuard::~ThreadsGuard() { guarded.store(before_, std::memory_order_relaxed); }

void detail::run_parts(std::int64_t count, std::int64_t grain, PartBody body) noexcept {
  const std::int64_t grains = (count - 1) / grain + 1;
  const int helpful = static_cast<int>(std::min<std::int64_t>(threads(), grains));
  const std::int64_t parts = std::min(grains, helpful * kPartsEach);
  const std::int64_t part = ((grains - 1) / parts + 1) * grain;
  if (helpful < 2 || !team().run(body, count, part, helpful)) body.run(body.body, 0, count);
}

}  // namespace distrun::tensor
