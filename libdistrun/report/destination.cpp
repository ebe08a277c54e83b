#include <distrun/report/destination.hpp>

#include <cerrno>
#include <charconv>
#include <string_view>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <distrun/base/error.hpp>

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

}  // namespace

std::optional<int> descriptor_named(const std::string& path) {
  if (path == "-" || path == "/dev/stdout") return STDOUT_FILENO;
  if (path == "/dev/stderr") return STDERR_FILENO;
  if (const auto number = number_after(path, "/dev/fd/")) return number;
  return number_after(path, "/proc/self/fd/");
}

Destination open_destination(const std::string& path) {
  if (const auto fd = descriptor_named(path)) return {duplicate(*fd, path), false};
  base::Fd fd(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NONBLOCK | O_NOCTTY,
                   0666));
  if (!fd && errno == ENXIO) {
    throw Error(ErrorKind::Failed, "OSError", "cannot write " + path + ": nobody reads it");
  }
  if (!fd) base::throw_errno("cannot write " + path, errno);
  struct stat status {};
  const bool regular = fstat(fd.get(), &status) == 0 && S_ISREG(status.st_mode);
  return {std::move(fd), regular};
}

}  // namespace distrun::report
