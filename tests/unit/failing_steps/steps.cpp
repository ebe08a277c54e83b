#include "unit/failing_steps/steps.hpp"

#include <dlfcn.h>
#include <execinfo.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstdlib>
#include <new>

namespace distrun::testing {
namespace {

constexpr int kOwnFrames = 1;  // of a stack: fails()

constinit std::atomic<int> counting{0};
constinit StepRecord* record = nullptr;
constinit ChosenStep chosen;
constinit std::atomic<std::uint32_t> seen{0};  // steps with the chosen stack
constinit std::atomic<bool> has_failed{false};
constinit thread_local bool is_within = false;  // in a step already: what unwinding a stack does is none

std::uint64_t hash_of(void* const* pcs, int frames) noexcept {
  std::uint64_t hash = 14695981039346656037U;
  for (int i = 0; i < frames; ++i) {
    hash ^= reinterpret_cast<std::uintptr_t>(pcs[i]);
    hash *= 1099511628211U;
    hash ^= hash >> 29;
  }
  return hash == 0 ? 1 : hash;
}

StepSite* find_site(std::uint64_t stack) noexcept {
  for (std::size_t i = 0; i < kStepsMax; ++i) {
    StepSite& site = record->sites[(stack + i) % kStepsMax];
    if (site.stack == stack || site.stack == 0) return &site;
  }
  return nullptr;
}

void write_down(const char* what, std::uint64_t stack, void* const* pcs, int frames) noexcept {
  while (record->busy.test_and_set(std::memory_order_acquire)) continue;
  if (StepSite* const site = find_site(stack); site == nullptr) {
    ++record->left_out;
  } else {
    site->stack = stack;
    site->what = what;
    ++site->times;
    site->frames = static_cast<std::uint32_t>(frames);
    for (int i = 0; i < frames; ++i) site->pcs[static_cast<std::size_t>(i)] = pcs[i];
  }
  record->busy.clear(std::memory_order_release);
}

// Counts a step. Returns whether it fails.
[[gnu::noinline]] bool fails(const char* what) noexcept {
  if (counting.load(std::memory_order_acquire) == 0 || is_within) return false;
  is_within = true;
  std::array<void*, kStepFrames + kOwnFrames> all;
  const int found = ::backtrace(all.data(), static_cast<int>(all.size()));
  void* const* const pcs = all.data() + kOwnFrames;
  const int frames = found > kOwnFrames ? found - kOwnFrames : 0;
  const std::uint64_t stack = hash_of(pcs, frames);
  bool is_it = false;
  if (record != nullptr) {
    write_down(what, stack, pcs, frames);
  } else if (stack == chosen.stack) {
    is_it = seen.fetch_add(1) + 1 == chosen.nth;
    if (is_it) has_failed = true;
  }
  is_within = false;
  return is_it;
}

// Sets errno. Returns whether the step fails.
[[gnu::noinline]] bool fails_with(const char* what, int number) noexcept {
  const bool is_it = fails(what);
  if (is_it) errno = number;
  return is_it;
}

}  // namespace

void prepare_steps() noexcept {
  std::array<void*, 4> pcs;
  (void)::backtrace(pcs.data(), static_cast<int>(pcs.size()));
}

void record_steps(StepRecord& into) noexcept { record = &into; }
void fail_step(ChosenStep step) noexcept { chosen = step; }
bool has_failed_step() noexcept { return has_failed; }

StepsCount::StepsCount() noexcept { ++counting; }
StepsCount::~StepsCount() { --counting; }

}  // namespace distrun::testing

using distrun::testing::fails;
using distrun::testing::fails_with;

void* operator new(std::size_t size) {
  void* const memory = fails("operator new") ? nullptr : std::malloc(size == 0 ? 1 : size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void* operator new(std::size_t size, std::align_val_t align) {
  void* memory = nullptr;
  if (fails("operator new") || ::posix_memalign(&memory, static_cast<std::size_t>(align), size) != 0) {
    throw std::bad_alloc();
  }
  return memory;
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

// The functions of libc: the program's come before the library's, for all that is linked into it.
extern "C" {

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*body)(void*), void* argument) noexcept {
  static const auto real = reinterpret_cast<decltype(&::pthread_create)>(::dlsym(RTLD_NEXT, "pthread_create"));
  return fails("pthread_create") ? EAGAIN : real(thread, attributes, body, argument);
}

void* mmap(void* at, std::size_t size, int protection, int flags, int fd, off_t offset) noexcept {
  if (fails_with("mmap", ENOMEM)) return MAP_FAILED;
  return reinterpret_cast<void*>(::syscall(SYS_mmap, at, size, protection, flags, fd, offset));
}

int memfd_create(const char* name, unsigned flags) noexcept {
  return fails_with("memfd_create", EMFILE) ? -1 : static_cast<int>(::syscall(SYS_memfd_create, name, flags));
}

int ftruncate(int fd, off_t size) noexcept {
  return fails_with("ftruncate", ENOSPC) ? -1 : static_cast<int>(::syscall(SYS_ftruncate, fd, size));
}

int socket(int domain, int type, int protocol) noexcept {
  return fails_with("socket", EMFILE) ? -1 : static_cast<int>(::syscall(SYS_socket, domain, type, protocol));
}

int socketpair(int domain, int type, int protocol, int fds[2]) noexcept {
  return fails_with("socketpair", EMFILE) ? -1
                                          : static_cast<int>(::syscall(SYS_socketpair, domain, type, protocol, fds));
}

int accept4(int fd, sockaddr* address, socklen_t* size, int flags) {
  return fails_with("accept4", EMFILE) ? -1 : static_cast<int>(::syscall(SYS_accept4, fd, address, size, flags));
}

int accept(int fd, sockaddr* address, socklen_t* size) {
  return fails_with("accept", EMFILE) ? -1 : static_cast<int>(::syscall(SYS_accept, fd, address, size));
}

int eventfd(unsigned value, int flags) noexcept {
  return fails_with("eventfd", EMFILE) ? -1 : static_cast<int>(::syscall(SYS_eventfd2, value, flags));
}

int timerfd_create(clockid_t clock, int flags) noexcept {
  return fails_with("timerfd_create", EMFILE) ? -1 : static_cast<int>(::syscall(SYS_timerfd_create, clock, flags));
}

int epoll_create1(int flags) noexcept {
  return fails_with("epoll_create1", EMFILE) ? -1 : static_cast<int>(::syscall(SYS_epoll_create1, flags));
}

int epoll_ctl(int epoll, int operation, int fd, epoll_event* event) noexcept {
  if (operation == EPOLL_CTL_ADD && fails_with("epoll_ctl", ENOMEM)) return -1;  // the others take no memory
  return static_cast<int>(::syscall(SYS_epoll_ctl, epoll, operation, fd, event));
}

int pipe2(int fds[2], int flags) noexcept {
  return fails_with("pipe2", EMFILE) ? -1 : static_cast<int>(::syscall(SYS_pipe2, fds, flags));
}

int dup(int fd) noexcept { return fails_with("dup", EMFILE) ? -1 : static_cast<int>(::syscall(SYS_dup, fd)); }

int open(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const int mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(more, int) : 0;
  va_end(more);
  return fails_with("open", EMFILE) ? -1 : static_cast<int>(::syscall(SYS_openat, AT_FDCWD, path, flags, mode));
}

int fcntl(int fd, int command, ...) {
  va_list more;
  va_start(more, command);
  void* const argument = va_arg(more, void*);
  va_end(more);
  if (command == F_DUPFD_CLOEXEC && fails_with("fcntl", EMFILE)) return -1;
  return static_cast<int>(::syscall(SYS_fcntl, fd, command, argument));
}

}  // extern "C"
