#include <distrun/plugin/rank/crash_handler.hpp>

#include <cxxabi.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <typeinfo>
#include <utility>
#include <vector>

#include <distrun/common/base/demangle.hpp>
#include <distrun/common/base/error.hpp>
#include <distrun/common/base/signal_stack.hpp>
#include <distrun/common/board/shared_dump.hpp>
#include <distrun/plugin/rank/fault_guard.hpp>
#include <distrun/plugin/rank/stack_dump.hpp>
#include <distrun/plugin/rank/thread_owner.hpp>
#include <distrun/plugin/rank/thread_start.hpp>
#include <distrun/plugin/rank/unwind.hpp>

namespace distrun::rank {
namespace {

constexpr int kSignals[] = {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL};
constexpr int kOthersMsMax = 300;  // for the thread that crashed first to end the process

std::atomic<board::DumpArea*> crash_area{nullptr};
std::vector<board::DumpArea*>* areas_of_ranks = nullptr;  // if ranks are threads; never destroyed
std::atomic<pid_t> process{0};                            // the process that the area belongs to
std::atomic<pid_t> crashed{0};                            // the thread that crashed first
std::atomic<pid_t> in_exit{0};                            // the thread that is recording its call of exit()
std::terminate_handler previous_terminate = nullptr;
using Explainer = std::size_t (*)(const void*, char*, std::size_t);
std::atomic<Explainer> explainer{nullptr};

// False in a child that a test has forked: the area is its parent's.
bool is_our_process() { return ::getpid() == process.load(std::memory_order_relaxed); }

board::DumpArea& area_of(int owner) {
  const bool has_own = areas_of_ranks != nullptr && owner >= 0;
  return has_own ? *(*areas_of_ranks)[static_cast<std::size_t>(owner)] : *crash_area.load();
}

[[noreturn]] void die_by(int signal) {
  struct sigaction action {};
  action.sa_handler = SIG_DFL;
  ::sigaction(signal, &action, nullptr);
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, signal);
  ::sigprocmask(SIG_UNBLOCK, &only, nullptr);
  // Raised again, because the faulting instruction might succeed when repeated.
  ::syscall(SYS_tgkill, ::getpid(), ::gettid(), signal);
  ::_exit(128 + signal);  // process 1 of a namespace survives its own signals
}

void nap_a_millisecond() {
  const timespec millisecond{0, 1'000'000};
  ::nanosleep(&millisecond, nullptr);
}

void wait_for_the_end() {
  for (int i = 0; i < kOthersMsMax; ++i) nap_a_millisecond();
}

// If the explainer faults, only the explanation is lost.
void explain_address(board::DumpHead& head) {
  const Explainer explain = explainer.load(std::memory_order_acquire);
  if (explain == nullptr || head.address == 0) return;
  const bool answered = survives([&] {
    const std::size_t size =
        explain(reinterpret_cast<const void*>(head.address), head.address_text, sizeof head.address_text - 1);
    head.address_text[size < sizeof head.address_text ? size : 0] = '\0';
  });
  if (!answered) head.address_text[0] = '\0';
}

void record(const siginfo_t& info, void* context) {
  const int owner = owner_of_thread();
  board::DumpArea& area = area_of(owner);
  area.head.owner = owner + 1;
  area.head.signal = info.si_signo;
  area.head.code = info.si_code;
  area.head.address = info.si_code > 0 ? reinterpret_cast<std::uint64_t>(info.si_addr) : 0;
  area.head.stack_pointer = stack_pointer_of(context);
  area.head.crashed_tid = ::gettid();
  explain_address(area.head);
  board::DumpThread& thread = begin_dump(area);
  thread.flags |= board::kDumpCrashed;
  unwind_crashed(thread, info, context);
  complete_dump(area, Asker::Crash);
}

// record_exit() and the crash handler must not write to the area at the same time. A thread that crashes during its own
// record_exit() does not wait for itself.
void wait_for_who_is_in_exit() {
  for (int i = 0; i < kOthersMsMax; ++i) {
    const pid_t other = in_exit.load();
    if (other == 0 || other == ::gettid()) return;
    nap_a_millisecond();
  }
}

void on_crash(int signal, siginfo_t* info, void* context) {
  if (info->si_code > 0) leave_if_guarded();
  if (is_our_process()) {
    const pid_t self = ::gettid();
    pid_t first = 0;
    if (crashed.compare_exchange_strong(first, self)) {
      wait_for_who_is_in_exit();
      record(*info, context);
    } else if (first != self) {
      wait_for_the_end();
    }
  }
  die_by(signal);
}

// ---- uncaught exceptions

template <std::size_t Size>
void keep(char (&field)[Size], const char* text) {
  const std::size_t size = ::strnlen(text, Size - 1);
  std::memcpy(field, text, size);
  field[size] = '\0';
}

void keep_type(board::DumpHead& head, const std::type_info& type) {
  keep(head.exception_type, base::demangled_type(type.name()).c_str());
}

void keep_text(board::DumpHead& head) {
  try {
    throw;
  } catch (const std::exception& error) {
    keep(head.exception_text, base::what_of(error));
  } catch (...) {
  }
}

void record_exception() {
  static std::atomic<bool> recorded{false};  // the first thread only; also, what() may end up here
  const std::type_info* type = abi::__cxa_current_exception_type();
  if (type == nullptr || !is_our_process() || recorded.exchange(true)) return;
  board::DumpHead& head = area_of(owner_of_thread()).head;
  head.exception_tid = ::gettid();
  keep_type(head, *type);
  keep_text(head);
}

[[noreturn]] void on_terminate() {
  record_exception();
  previous_terminate();  // prints the usual "terminate called after throwing an instance of ..."
  std::abort();
}

void handle(int signal) {
  struct sigaction action {};
  ::sigaction(signal, nullptr, &action);
  if ((action.sa_flags & SA_SIGINFO) != 0 || action.sa_handler != SIG_DFL) return;
  action.sa_sigaction = on_crash;
  // SA_NODEFER: a fault within the handler re-enters it, and is survived or ends the process.
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  sigfillset(&action.sa_mask);
  for (const int fault : kSignals) sigdelset(&action.sa_mask, fault);
  sigdelset(&action.sa_mask, dump_signal());  // a thread that waits for the end can still report its stack
  ::sigaction(signal, &action, nullptr);
}

}  // namespace

void prepare_crash_handler() {
  static bool done = false;
  if (done) return;
  done = true;
  prepare_stack_dump();
  // Never destroyed: static destructors may crash, too.
  alignas(base::SignalStack) static char signal_stack[sizeof(base::SignalStack)];
  new (signal_stack) base::SignalStack;
  give_threads_signal_stacks();
  for (const int signal : kSignals) handle(signal);
  previous_terminate = std::set_terminate(on_terminate);
}

void record_exit() noexcept {
  static std::atomic<bool> recorded{false};
  if (crash_area.load() == nullptr || !is_our_process() || recorded.exchange(true)) return;
  in_exit = ::gettid();
  if (!has_crashed()) {
    const int owner = owner_of_thread();
    board::DumpArea& area = area_of(owner);
    area.head.owner = owner + 1;
    unwind_from_here(begin_dump(area));
    complete_dump_of_caller(area);
  }
  in_exit = 0;
  if (has_crashed()) wait_for_the_end();  // by that signal
}

bool has_crashed() noexcept { return crashed.load(std::memory_order_relaxed) != 0; }

void set_fault_explainer(Explainer explain) noexcept { explainer.store(explain, std::memory_order_release); }

void install_crash_areas(std::vector<board::DumpArea*> areas) {
  areas_of_ranks = new std::vector<board::DumpArea*>(std::move(areas));
}

void install_crash_handler(board::DumpArea& area) {
  prepare_crash_handler();
  crash_area = &area;
  process = ::getpid();
}

void install_crash_handler(base::Fd memory) { install_crash_handler(board::map_dump(memory.get())); }

}  // namespace distrun::rank
