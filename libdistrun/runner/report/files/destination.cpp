#include <distrun/runner/report/files/destination.hpp>

#include <cerrno>
#include <charconv>
#include <string_view>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/text.hpp>

namespace distrun::report {
namespace {

std::optional<int> number_after(std::string_view path, std::string_view prefix) {
  if (!path.starts_with(prefix)) return std::nullopt;
  path.remove_prefix(prefix.size());
  int number = 0;
  const auto [end, failure] = std::from_chars(path.data(), path.data() + path.size(), number);
  if (failure != std::errc() || end != path.data() + path.size() || number < 0) {
    return std::nullopt;
  }
  return number;
}

base::Fd duplicate(int fd, const std::string& path) {
  base::Fd copy(fcntl(fd, F_DUPFD_CLOEXEC, 3));
  if (!copy) base::throw_errno("cannot write " + path, errno);
  return copy;
}

// Returns "run 0123456789ab" if the file names its writer: each line of events has the run's id.
std::string writer_of(const std::string& path) {
  constexpr std::string_view kKey = "\"run_id\":\"";
  char head[512];
  const base::Fd file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  const ssize_t size = file ? read(file.get(), head, sizeof head) : 0;
  const std::string_view text(head, size > 0 ? static_cast<std::size_t>(size) : 0);
  const std::size_t key = text.find(kKey);
  if (key == text.npos) return "another run";
  const std::string_view rest = text.substr(key + kKey.size());
  return "run " + base::one_line(rest.substr(0, rest.find('"')), 40);
}

// Locks the file, since a file that grows during a run must have one writer. The kernel drops the lock however the
// writer ends. File systems without such locks are written unlocked.
void claim(const base::Fd& fd, const std::string& path) {
  if (flock(fd.get(), LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return;
  throw Error(ErrorKind::Failed, "OSError",
              "cannot write " + path + ": " + writer_of(path) +
                  " is still writing it; wait for its end (distrun ps), or use another path");
}

}  // namespace

std::optional<int> descriptor_named(const std::string& path) {
  if (path == "-" || path == "/dev/stdout") return STDOUT_FILENO;
  if (path == "/dev/stderr") return STDERR_FILENO;
  if (const auto number = number_after(path, "/dev/fd/")) return number;
  return number_after(path, "/proc/self/fd/");
}

Destination open_destination(const std::string& path) {
  if (const auto fd = descriptor_named(path)) return {duplicate(*fd, path), false};
  base::Fd fd(open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0666));
  if (!fd && errno == ENXIO) {
    throw Error(ErrorKind::Failed, "OSError", "cannot write " + path + ": the pipe has no reader");
  }
  if (!fd) base::throw_errno("cannot write " + path, errno);
  struct stat status {};
  const bool regular = fstat(fd.get(), &status) == 0 && S_ISREG(status.st_mode);
  if (regular) {
    claim(fd, path);
    if (ftruncate(fd.get(), 0) != 0) base::throw_errno("cannot write " + path, errno);
  }
  return {std::move(fd), regular};
}

}  // namespace distrun::report
