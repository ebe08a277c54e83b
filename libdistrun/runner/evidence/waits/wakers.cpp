#include <distrun/runner/evidence/waits/wakers.hpp>

#include <fcntl.h>
#include <signal.h>

#include <cstdint>
#include <string>

#include <distrun/common/wire/wait_kinds.hpp>
#include <distrun/runner/evidence/proc/proc_files.hpp>
#include <distrun/runner/evidence/waits/decode_call.hpp>

namespace distrun::evidence {
namespace {

using wire::WaitObject;

constexpr std::size_t kFileMax = 16 << 10;

std::string read_of(pid_t pid, const char* name) {
  return read_proc_file(AT_FDCWD, proc_path(pid, name).c_str(), kFileMax).text;
}

constexpr std::uint64_t bit_of(int signal) { return std::uint64_t{1} << (signal - 1); }
constexpr std::uint64_t kOfTimers = bit_of(SIGALRM) | bit_of(SIGVTALRM) | bit_of(SIGPROF);
constexpr std::uint64_t kOfEvents = bit_of(SIGUSR1) | bit_of(SIGUSR2) | bit_of(SIGIO) | bit_of(SIGURG);
constexpr std::uint64_t kOfStops = bit_of(SIGHUP) | bit_of(SIGINT) | bit_of(SIGQUIT) | bit_of(SIGTERM);

std::uint64_t caught_signals(const std::string& status) {
  constexpr std::string_view kName = "\nSigCgt:";
  const std::size_t at = status.find(kName);
  if (at == std::string::npos) return ~std::uint64_t{0};
  Words words(std::string_view(status).substr(at + kName.size()));
  return number_in<std::uint64_t>(words.next().substr(0, 16), 16).value_or(~std::uint64_t{0});
}

// An interrupted call fails, but no handler releases a lock in memory or ends a thread.
bool withstands_handlers(WaitObject object) {
  return object == WaitObject::ThreadEnd || (wire::is_lock(object) && object != WaitObject::FileLock);
}

bool is_notification(WaitObject object) {
  switch (object) {
    case WaitObject::ConditionVariable:
    case WaitObject::Semaphore:
    case WaitObject::Barrier:
    case WaitObject::Latch:
    case WaitObject::Future:
    case WaitObject::AtomicWait: return true;
    default: return false;
  }
}

}  // namespace

Wakers wakers_of(pid_t pid) {
  const std::uint64_t caught = caught_signals(read_of(pid, "status"));
  Wakers wakers;
  wakers.timers = (caught & kOfTimers) != 0 || !read_of(pid, "timers").empty();
  const bool minds_children = (caught & bit_of(SIGCHLD)) != 0 && !children_of(pid).empty();
  wakers.handlers = (caught & kOfEvents) != 0 || minds_children;
  wakers.stops = (caught & kOfStops) != 0;
  return wakers;
}

bool may_end(const Wakers& wakers, WaitObject object) noexcept {
  return wakers.timers || (wakers.handlers && !withstands_handlers(object)) ||
         (wakers.stops && is_notification(object));
}

}  // namespace distrun::evidence
