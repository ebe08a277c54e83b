#include <distrun/plugin/rank/fork_ranks.hpp>

#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include <distrun/common/base/check.hpp>
#include <distrun/common/base/error.hpp>

namespace distrun::rank {
namespace {

constexpr std::size_t kStackSize = 256 << 10;

// Trivial throughout: a rank leaves the intermediate's frames by longjmp.
struct Request {
  int count;
  std::int32_t* pids;
  int forked;
  int error;
  int rank;
  jmp_buf on_main_stack;
};

int intermediate(void* argument) {
  auto& request = *static_cast<Request*>(argument);
  for (int i = 0; i < request.count; ++i) {
    const pid_t pid = ::fork();
    if (pid == 0) {
      // The rank continues where the zygote is, on the process's main stack with its full size.
      request.rank = i;
      ::longjmp(request.on_main_stack, 1);
    }
    if (pid < 0) {
      request.error = errno;
      break;
    }
    request.pids[request.forked++] = pid;
  }
  ::_exit(0);
}

// Mapped once: a zygote forks many times, and a rank does not use it.
void* intermediate_stack_top() {
  static void* const stack =
      ::mmap(nullptr, kStackSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
  if (stack == MAP_FAILED) base::throw_errno("cannot map a stack", errno);
  return static_cast<char*>(stack) + kStackSize;
}

// A separate function, so that none of the caller's variables is in a register across setjmp.
[[gnu::noinline]] int start_intermediate(Request& request) {
  if (::setjmp(request.on_main_stack) != 0) return 0;  // in a rank
  return ::clone(intermediate, intermediate_stack_top(), CLONE_VM | CLONE_VFORK | SIGCHLD, &request);
}

}  // namespace

Forked fork_ranks(int count) {
  std::vector<std::int32_t> pids(static_cast<std::size_t>(count));
  Request request{};
  request.count = count;
  request.pids = pids.data();
  request.rank = -1;
  const int child = start_intermediate(request);
  if (request.rank >= 0) return {request.rank, {}, 0};
  if (child < 0) return {-1, {}, errno};
  // Once it is reaped, its children have been adopted: the coordinator relies on being their parent.
  while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
  pids.resize(static_cast<std::size_t>(request.forked));
  return {-1, std::move(pids), request.error};
}

}  // namespace distrun::rank
