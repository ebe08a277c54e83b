#include <distrun/plugin/sdk/file_lock.hpp>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <fstream>
#include <sstream>

#include <distrun/common/base/error.hpp>
#include <distrun/plugin/sdk/detail/current.hpp>
#include <distrun/plugin/sdk/detail/string.hpp>

namespace distrun {
namespace {

// Shows a wait of the calling thread on the rank's board. Does nothing outside a test, or with an older distrun.
class ShownWait {
 public:
  ShownWait(const std::string& name, base::Location where) : line_(line_of_this_thread()) {
    if (line_ != nullptr) {
      number_ = line_->wait_begin(line_->waits, kOfATest, detail::lend(name), where.file, where.line);
    }
  }
  ~ShownWait() {
    if (line_ != nullptr) line_->wait_end(line_->waits, number_);
  }
  ShownWait(const ShownWait&) = delete;
  ShownWait& operator=(const ShownWait&) = delete;

 private:
  static constexpr std::int32_t kOfATest = -1;  // a kind that the runtime does not use

  static const distrun_rank* line_of_this_thread() {
    const Rank* rank = detail::current_rank();
    if (rank == nullptr) return nullptr;
    const distrun_rank& line = rank->line();
    constexpr std::size_t kEnd = offsetof(distrun_rank, wait_end) + sizeof(line.wait_end);
    return line.size >= kEnd && line.wait_begin != nullptr ? &line : nullptr;
  }

  const distrun_rank* line_;
  std::int32_t number_ = 0;
};

// Returns " of process 123", the lock's holder a moment ago. Empty if /proc/locks lacks it (some file systems).
std::string holder_of(int file) {
  struct stat status {};
  if (::fstat(file, &status) != 0) return "";
  char place[64];
  std::snprintf(place, sizeof place, "%02x:%02x:%llu", major(status.st_dev), minor(status.st_dev),
                static_cast<unsigned long long>(status.st_ino));
  std::ifstream locks("/proc/locks");
  for (std::string line; std::getline(locks, line);) {
    std::istringstream words(line);  // "7: FLOCK ADVISORY WRITE 123 00:2a:456 0 EOF"; waiters have "->" first
    std::string number, kind, advice, mode, pid, where;
    words >> number >> kind >> advice >> mode >> pid >> where;
    if (kind == "FLOCK" && where == place) return " of process " + pid;
  }
  return "";
}

}  // namespace

FileLock::FileLock(const std::string& path, base::Location where)
    : file_(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)) {
  if (!file_) base::throw_errno("cannot open the lock " + path, errno, where);
  if (::flock(file_.get(), LOCK_EX | LOCK_NB) == 0) return;
  const std::string name = path.substr(path.rfind('/') + 1);  // wait names are short; `where` has the rest
  const ShownWait wait("lock" + holder_of(file_.get()) + ": " + name, where);
  while (::flock(file_.get(), LOCK_EX) != 0) {
    if (errno != EINTR) base::throw_errno("cannot lock " + path, errno, where);
  }
}

}  // namespace distrun
