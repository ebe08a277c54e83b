#include <distrun/runner/report/files/appended_file.hpp>

#include <cerrno>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <distrun/common/base/error.hpp>
#include <distrun/runner/report/files/outlet.hpp>

namespace distrun::report {
namespace {

// A reader that takes nothing for this long is considered gone.
constexpr base::Milliseconds kAppendPatience = std::chrono::minutes(1);

}  // namespace

// Opens without waiting for the reader of a FIFO.
AppendedFile::AppendedFile(const std::string& path)
    : path_(path), fd_(open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0666)) {
  if (!fd_) fail(errno);
  struct stat status {};
  if (fstat(fd_.get(), &status) != 0) fail(errno);
  regular_ = S_ISREG(status.st_mode);
  if (regular_) size_ = static_cast<std::size_t>(status.st_size);
}

void AppendedFile::append(std::string_view content) {
  Outlet outlet(fd_.get());
  outlet.write(content);
  outlet.drain(kAppendPatience);
  if (outlet.error() != 0) {
    if (regular_ && ftruncate(fd_.get(), static_cast<off_t>(size_)) != 0) fail(errno);
    fail(outlet.error());
  }
  size_ += regular_ ? content.size() : 0;
}

void AppendedFile::fail(int number) const { base::throw_errno("cannot append to " + path_, number); }

}  // namespace distrun::report
