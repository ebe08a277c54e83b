#include <distrun/runtime/core/process_end.hpp>

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <map>
#include <mutex>
#include <utility>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/fd.hpp>
#include <distrun/common/base/process_mark.hpp>
#include <distrun/common/base/thread.hpp>

namespace distrun::core {

// Watches all processes of the ProcessEnds that are alive.
class ProcessEnd::Watcher {
 public:
  // Throws Error{Failed, Overloaded}.
  Watcher() : epoll_(::epoll_create1(EPOLL_CLOEXEC)), stop_(::eventfd(0, EFD_CLOEXEC)) {
    if (!epoll_ || !stop_ || !put_in(stop_.get(), kStop)) base::throw_errno("cannot watch processes", errno);
    thread_ = std::make_unique<base::Thread>("distrun-ends", [this] { serve(); });
  }
  ~Watcher() {
    const std::uint64_t one = 1;
    // A forked process shares its parent's eventfd and has no such thread.
    if (is_own() && ::write(stop_.get(), &one, sizeof one) < 0) std::abort();  // cannot fail
    thread_.reset();
  }
  Watcher(const Watcher&) = delete;
  Watcher& operator=(const Watcher&) = delete;

  bool is_own() const noexcept { return !mark_.is_inherited(); }

  // Returns 0 on failure.
  std::uint64_t add(base::Fd pidfd, std::function<void()> call) {
    const std::lock_guard lock(mutex_);
    const auto added = watched_.try_emplace(last_ + 1, std::move(pidfd), std::move(call)).first;
    if (put_in(added->second.pidfd.get(), added->first)) return ++last_;
    watched_.erase(added);
    return 0;
  }
  void remove(std::uint64_t number) {
    const std::lock_guard lock(mutex_);
    erase(number);
  }

 private:
  struct Watched {
    Watched(base::Fd pidfd_, std::function<void()> call_) noexcept : pidfd(std::move(pidfd_)), call(std::move(call_)) {}

    base::Fd pidfd;
    std::function<void()> call;
  };
  static constexpr std::uint64_t kStop = 0;

  bool put_in(int fd, std::uint64_t number) const {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.u64 = number;
    return ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) == 0;
  }
  void serve() {
    for (;;) {
      epoll_event event{};
      if (::epoll_wait(epoll_.get(), &event, 1, -1) != 1) continue;
      if (event.data.u64 == kStop) return;
      tell(event.data.u64);
    }
  }
  void tell(std::uint64_t number) {
    const std::lock_guard lock(mutex_);
    const auto found = watched_.find(number);
    if (found == watched_.end()) return;  // removed meanwhile
    found->second.call();
    erase(number);
  }
  // A forked process may have the descriptor too: closing it here would then leave it in the epoll.
  void erase(std::uint64_t number) {
    const auto found = watched_.find(number);
    if (found == watched_.end()) return;
    ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, found->second.pidfd.get(), nullptr);
    watched_.erase(found);
  }

  const base::Fd epoll_;
  const base::Fd stop_;
  const base::ProcessMark mark_;
  std::mutex mutex_;
  // Guarded by mutex_.
  std::uint64_t last_ = 0;
  std::map<std::uint64_t, Watched> watched_;
  std::unique_ptr<base::Thread> thread_;
};

// Returns null if no watcher can be created.
std::shared_ptr<ProcessEnd::Watcher> ProcessEnd::watcher() {
  struct Shared {
    std::mutex mutex;
    std::weak_ptr<Watcher> last;  // guarded by mutex
  };
  static auto* const shared = new Shared;
  const std::lock_guard lock(shared->mutex);
  auto current = shared->last.lock();
  if (current != nullptr && current->is_own()) return current;
  try {
    current = std::make_shared<Watcher>();
  } catch (const std::exception&) {  // ours, or std::bad_alloc
    return nullptr;
  }
  shared->last = current;
  return current;
}

ProcessEnd::ProcessEnd(int pid, std::function<void()> call) {
  base::Fd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));  // close-on-exec by definition
  if (!pidfd) {
    was_gone_ = errno == ESRCH;
    if (was_gone_) call();
    return;
  }
  watcher_ = watcher();
  if (watcher_ != nullptr) number_ = watcher_->add(std::move(pidfd), std::move(call));
}

ProcessEnd::~ProcessEnd() {
  if (number_ != 0 && watcher_->is_own()) watcher_->remove(number_);
}

bool ProcessEnd::is_told() const noexcept { return was_gone_ || (number_ != 0 && watcher_->is_own()); }

}  // namespace distrun::core
