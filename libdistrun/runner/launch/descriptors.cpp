#include <distrun/runner/launch/descriptors.hpp>

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <string>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/fd.hpp>
#include <distrun/common/wire/zygote.hpp>

namespace distrun::launch {
namespace {

constexpr rlim_t kOfStart = 3;       // control line, standard output and error
constexpr rlim_t kHandedOver = 3;    // the process's ends, until it has them
constexpr rlim_t kOfProcess = 4;     // once started: also a pidfd
constexpr rlim_t kStartReserve = 4;  // the board, and to send a request
constexpr rlim_t kReserve = 16;      // a probe, reports
constexpr rlim_t kSlack = 8;         // the next run may use a few more

// Returns the lowest free number: the kernel assigns descriptors from below, so about that many are in use.
rlim_t in_use() {
  const base::Fd next(::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0));
  return next ? static_cast<rlim_t>(next.get()) : 0;
}

}  // namespace

void require_descriptors(int processes) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return;
  const rlim_t all = static_cast<rlim_t>(processes);
  const rlim_t at_once = static_cast<rlim_t>(std::min(processes, wire::kRanksPerRequest));
  const rlim_t to_start = kOfStart * all + kHandedOver * at_once + kStartReserve;
  const rlim_t needed = in_use() + std::max(to_start, kOfProcess * all + kReserve);
  if (needed <= limit.rlim_cur) return;
  const std::string wanted = std::to_string(needed + kSlack);
  throw Error(ErrorKind::Overloaded, "cannot start " + std::to_string(processes) +
                                         (processes == 1 ? " process" : " processes") + " for ranks: it takes " +
                                         wanted + " descriptors, but the limit of open files is " +
                                         std::to_string(limit.rlim_cur) + " (RLIMIT_NOFILE); raise it to " + wanted +
                                         " at least, as with ulimit -n " + wanted + ", or use fewer ranks or --jobs");
}

}  // namespace distrun::launch
