#include <distrun/plugin/rank/stack_dump.hpp>

#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>

#include <distrun/common/base/thread.hpp>
#include <distrun/plugin/rank/fault_guard.hpp>
#include <distrun/plugin/rank/modules.hpp>
#include <distrun/plugin/rank/own_tasks.hpp>
#include <distrun/plugin/rank/unwind.hpp>

namespace distrun::rank {
namespace {

using board::Answer;
using board::DumpArea;
using board::DumpThread;
using board::NoStack;

constexpr int kYields = 32;  // before the first sleep: most threads answer at once
constexpr long kNapNs = 50'000;
constexpr std::int64_t kLookMs = 3;  // when to check silent threads: some never answer

std::array<std::atomic<DumpArea*>, 2> areas{};  // by asker; read in the signal handlers
static_assert(std::atomic<DumpArea*>::is_always_lock_free && sizeof(void*) == 8);

// ---- the question, as sent with the signal

struct Question {
  std::uint32_t dump;
  Asker asker;
  std::uint32_t index;  // of the entry
};

std::uint64_t pack(const Question& question) {
  return std::uint64_t{question.dump} << 16 | static_cast<std::uint64_t>(question.asker) << 15 | question.index;
}

Question unpack(std::uint64_t value) {
  return {static_cast<std::uint32_t>(value >> 16), static_cast<Asker>(value >> 15 & 1),
          static_cast<std::uint32_t>(value & 0x7fff)};
}

bool send(pid_t tid, const Question& question) {
  siginfo_t info{};
  info.si_signo = dump_signal();
  info.si_code = SI_QUEUE;
  info.si_pid = ::getpid();
  info.si_uid = ::getuid();
  info.si_value.sival_ptr = reinterpret_cast<void*>(pack(question));
  return ::syscall(SYS_rt_tgsigqueueinfo, info.si_pid, tid, info.si_signo, &info) == 0;
}

// ---- in the thread that answers

// A question that arrives too late finds another ticket and is ignored.
void answer(const Question& question) {
  DumpArea* area = areas[static_cast<std::size_t>(question.asker)].load(std::memory_order_acquire);
  if (area == nullptr || question.index >= board::kDumpThreadsMax) return;
  DumpThread& thread = area->threads[question.index];
  const std::atomic_ref ticket(thread.ticket);
  std::uint32_t asked = board::ticket_of(question.dump, Answer::Asked);
  if (!ticket.compare_exchange_strong(asked, board::ticket_of(question.dump, Answer::Answering))) return;
  ::prctl(PR_GET_NAME, thread.name, 0, 0, 0);
  unwind_interrupted(thread);
  ticket.store(board::ticket_of(question.dump, Answer::Answered), std::memory_order_release);
}

void on_dump_signal(int, siginfo_t* info, void*) {
  const int error = errno;
  if (info->si_code == SI_QUEUE && info->si_pid == ::getpid()) {
    answer(unpack(reinterpret_cast<std::uint64_t>(info->si_value.sival_ptr)));
  }
  errno = error;
}

bool handler_is_ours() {
  struct sigaction action {};
  ::sigaction(dump_signal(), nullptr, &action);
  return (action.sa_flags & SA_SIGINFO) != 0 && action.sa_sigaction == on_dump_signal;
}

// ---- in the thread that asks

// Takes the next entry that no thread of an earlier dump is still writing. Null if there is none left.
DumpThread* claim(DumpArea& area, pid_t tid) {
  std::uint32_t index = area.head.thread_count;
  while (index < board::kDumpThreadsMax &&
         board::answer_of(std::atomic_ref(area.threads[index].ticket).load()) == Answer::Answering) {
    area.threads[index++].tid = 0;
  }
  if (index == board::kDumpThreadsMax) return nullptr;
  DumpThread& thread = area.threads[index];
  thread.tid = tid;
  thread.pc_count = 0;
  thread.flags = 0;
  thread.why_none = NoStack::None;
  thread.name[0] = '\0';
  std::atomic_ref(area.head.thread_count).store(index + 1, std::memory_order_release);
  return &thread;
}

bool is_gone(pid_t tid, TaskStatus& status) {
  return !read_status(tid, status) || status.state == 'Z' || status.state == 'X';
}

bool is_deaf(const TaskStatus& status) { return (status.blocked >> (dump_signal() - 1) & 1) != 0; }

// A process that continues must not find distrun's signal pending. For one that dies this does not matter, and it dies
// milliseconds sooner without looking its threads up in /proc.
void ask(DumpArea& area, Asker asker, pid_t tid, bool can_answer) {
  TaskStatus status;
  if (asker == Asker::Request && is_gone(tid, status)) return;
  DumpThread* thread = claim(area, tid);
  if (thread == nullptr) {
    ++area.head.left_out;
    return;
  }
  const auto index = static_cast<std::uint32_t>(thread - area.threads);
  const std::atomic_ref ticket(thread->ticket);
  if (!can_answer || is_deaf(status)) {
    thread->why_none = can_answer ? NoStack::BlocksSignal : NoStack::NotOurHandler;
  } else {
    ticket.store(board::ticket_of(area.head.number, Answer::Asked), std::memory_order_release);
    if (send(tid, {area.head.number, asker, index})) return;
    ticket.store(board::ticket_of(area.head.number, Answer::None));
    thread->why_none = NoStack::NotAsked;
  }
  read_name(tid, thread->name);
}

void ask_all(DumpArea& area, Asker asker) {
  const pid_t self = ::gettid();
  const bool can_answer = handler_is_ours();
  areas[static_cast<std::size_t>(asker)].store(&area, std::memory_order_release);
  OwnTasks tasks;
  bool listed = false;
  while (const pid_t tid = tasks.next()) {
    listed = true;
    if (tid != self) ask(area, asker, tid, can_answer);
  }
  // Without a free descriptor, one more thread is known: the main one.
  if (!listed && ::getpid() != self) ask(area, asker, ::getpid(), can_answer);
}

bool is_pending(DumpThread& thread) {
  const Answer at = board::answer_of(std::atomic_ref(thread.ticket).load(std::memory_order_acquire));
  return thread.tid != 0 && (at == Answer::Asked || at == Answer::Answering);
}

std::int64_t ms_since(const timespec& start) {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return (now.tv_sec - start.tv_sec) * std::int64_t{1000} + (now.tv_nsec - start.tv_nsec) / 1'000'000;
}

// Withdraws the question, so that no answer arrives while the dump is read.
void give_up(DumpArea& area, DumpThread& thread, const TaskStatus& status, bool gone) {
  std::uint32_t asked = board::ticket_of(area.head.number, Answer::Asked);
  const std::uint32_t none = board::ticket_of(area.head.number, Answer::None);
  if (!std::atomic_ref(thread.ticket).compare_exchange_strong(asked, none)) return;
  read_name(thread.tid, thread.name);
  const bool uninterruptible = status.state == 'D';
  thread.why_none =
      is_deaf(status) ? NoStack::BlocksSignal : (uninterruptible ? NoStack::Uninterruptible : NoStack::NoAnswer);
  if (gone) thread.tid = 0;
}

// Gives up on threads that cannot answer, or on all.
void give_up_pending(DumpArea& area, bool all) {
  for (std::uint32_t i = 1; i < area.head.thread_count; ++i) {
    DumpThread& thread = area.threads[i];
    if (!is_pending(thread)) continue;
    TaskStatus status;
    const bool gone = is_gone(thread.tid, status);
    if (all || gone || is_deaf(status)) give_up(area, thread, status, gone);
  }
}

void await_answers(DumpArea& area) {
  timespec start{};
  ::clock_gettime(CLOCK_MONOTONIC, &start);
  int waits = 0;
  bool looked = false;
  for (std::uint32_t i = 1; i < area.head.thread_count;) {
    if (!is_pending(area.threads[i])) {
      ++i;
    } else if (waits++ < kYields) {
      ::sched_yield();
    } else if (!looked && ms_since(start) >= kLookMs) {
      looked = true;
      give_up_pending(area, false);
    } else if (ms_since(start) < kAnswerMsMax) {
      const timespec nap{0, kNapNs};
      ::nanosleep(&nap, nullptr);
    } else {
      return give_up_pending(area, true);
    }
  }
}

// ---- files

bool is_known(const DumpArea& area, std::uint64_t pc) {
  for (std::uint32_t i = 0; i < area.head.module_count; ++i) {
    if (pc >= area.modules[i].start && pc < area.modules[i].end) return true;
  }
  return false;
}

void add_module(DumpArea& area, std::uint64_t pc) {
  const std::uint32_t count = area.head.module_count;
  Module found;
  if (count == board::kDumpModulesMax || !find_module(pc, found)) return;
  board::DumpModule& module = area.modules[count];
  module.start = found.start;
  module.end = found.end;
  module.bias = found.bias;
  const std::size_t size = ::strnlen(found.path, sizeof module.path - 1);
  std::memcpy(module.path, found.path, size);
  module.path[size] = '\0';
  std::atomic_ref(area.head.module_count).store(count + 1, std::memory_order_release);
}

// Survives a loader list that changes meanwhile or is damaged.
void add_modules(DumpArea& area, const DumpThread& thread) {
  survives([&] {
    for (std::uint32_t i = 0; i < thread.pc_count; ++i) {
      if (thread.pcs[i] != 0 && !is_known(area, thread.pcs[i])) add_module(area, thread.pcs[i]);
    }
  });
}

}  // namespace

int dump_signal() noexcept { return base::stack_signal(); }

void prepare_stack_dump() {
  remember_modules();
  static bool done = false;
  if (done) return;
  done = true;
  prepare_unwinding();
  struct sigaction action {};
  ::sigaction(dump_signal(), nullptr, &action);
  if ((action.sa_flags & SA_SIGINFO) != 0 || action.sa_handler != SIG_DFL) return;
  action.sa_sigaction = on_dump_signal;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
  // No handler of the test may run during an answer, but a fault must reach the handler that survives it.
  sigfillset(&action.sa_mask);
  for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) sigdelset(&action.sa_mask, fault);
  ::sigaction(dump_signal(), &action, nullptr);
}

DumpThread& begin_dump(DumpArea& area) {
  area.head.pid = ::getpid();
  area.head.number = (area.head.number + 1) & 0x3fff'ffff;  // a ticket holds this many bits
  area.head.thread_count = 0;
  area.head.module_count = 0;
  area.head.left_out = 0;
  // The first entry belongs to the dumping thread, so no other thread ever writes to it.
  DumpThread& own = *claim(area, ::gettid());
  ::prctl(PR_GET_NAME, own.name, 0, 0, 0);
  std::atomic_ref(area.head.state).store(board::DumpState::Writing, std::memory_order_release);
  return own;
}

void complete_dump(DumpArea& area, Asker asker) {
  add_modules(area, area.threads[0]);
  ask_all(area, asker);
  await_answers(area);
  for (std::uint32_t i = 1; i < area.head.thread_count; ++i) {
    if (area.threads[i].tid != 0) add_modules(area, area.threads[i]);
  }
  std::atomic_ref(area.head.state).store(board::DumpState::Complete, std::memory_order_release);
}

void complete_dump_of_caller(DumpArea& area) {
  add_modules(area, area.threads[0]);
  std::atomic_ref(area.head.state).store(board::DumpState::Complete, std::memory_order_release);
}

void dump_stacks(DumpArea& area, Asker asker) {
  unwind_from_here(begin_dump(area));
  complete_dump(area, asker);
}

}  // namespace distrun::rank
