#include <distrun/runner/report/files/line_file.hpp>

#include <cerrno>

#include <unistd.h>

#include <distrun/common/base/error.hpp>

namespace distrun::report {
namespace {

// Writes everything or returns the errno. A short write has no errno; the next write does.
int write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written > 0) {
      bytes.remove_prefix(static_cast<std::size_t>(written));
    } else if (written == 0) {
      return ENOSPC;
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

}  // namespace

LineFile::LineFile(const std::string& path)
    : path_(path), destination_(open_destination(path)), outlet_(destination_.fd.get()) {}

LineFile::~LineFile() { outlet_.drain(base::Milliseconds(1000)); }

void LineFile::append(std::string_view line) {
  if (!error_.empty()) return;
  if (destination_.regular) return append_to_own(line);
  outlet_.write(line);
  if (outlet_.error() != 0) fail(outlet_.error());
}

void LineFile::append_to_own(std::string_view line) {
  const int number = write_all(destination_.fd.get(), line);
  if (number == 0) {
    size_ += static_cast<long long>(line.size());
    return;
  }
  fail(number);
  // If this fails as well, the file keeps a truncated last line.
  if (ftruncate(destination_.fd.get(), size_) != 0) error_ += "; its last line is cut";
}

void LineFile::fail(int number) { error_ = "cannot write " + path_ + ": " + base::errno_text(number); }

}  // namespace distrun::report
