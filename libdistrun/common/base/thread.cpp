#include <distrun/common/base/thread.hpp>

#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>

#include <system_error>
#include <utility>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/leave_to_parent.hpp>
#include <distrun/common/base/signal_stack.hpp>

namespace distrun::base {
namespace {

constexpr std::size_t kNameMax = 15;  // the kernel's limit

sigset_t blocked_signals(Faults faults) {
  sigset_t signals;
  sigfillset(&signals);
  sigdelset(&signals, stack_signal());
  if (faults == Faults::Blocked) return signals;
  for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL}) sigdelset(&signals, fault);
  return signals;
}

// Scope guard. Sets the calling thread's signal mask while another thread is started, which inherits it.
class SignalMask {
 public:
  explicit SignalMask(const sigset_t& blocked) noexcept { pthread_sigmask(SIG_SETMASK, &blocked, &before_); }
  ~SignalMask() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalMask(const SignalMask&) = delete;
  SignalMask& operator=(const SignalMask&) = delete;

 private:
  sigset_t before_;
};

}  // namespace

int stack_signal() noexcept { return SIGRTMAX - 3; }

Thread::Thread(const std::string& name, std::function<void()> body, Faults faults) {
  try {
    const SignalMask mask(blocked_signals(faults));
    thread_ = std::thread([name = name.substr(0, kNameMax), body = std::move(body)] {
      // The thread names itself: naming another thread goes through /proc, and the kernel then spends milliseconds on
      // the process's /proc entries when it exits.
      ::prctl(PR_SET_NAME, name.c_str(), 0, 0, 0);
      const SignalStack signal_stack;
      body();
    });
  } catch (const std::system_error& error) {
    throw Error(ErrorKind::Overloaded, "cannot start thread '" + name + "': " + fork_errno_text(error.code().value()));
  }
}

void Thread::join() {
  if (mark_.is_inherited()) return leave_to_parent(std::move(thread_));
  thread_.join();
}

Thread::~Thread() {
  if (thread_.joinable()) join();
}

}  // namespace distrun::base
