#include <distrun/plugin/sdk/captured_output.hpp>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <iostream>

#include <distrun/common/base/error.hpp>

namespace distrun {
namespace {

constexpr std::size_t kTextMax = std::size_t{16} << 20;

void flush_all() {
  std::cout.flush();
  std::cerr.flush();
  std::clog.flush();
  std::fflush(nullptr);
}

base::Fd checked(int fd, const char* what) {
  if (fd < 0) base::throw_errno(what, errno);
  return base::Fd(fd);
}

std::size_t size_of(int fd) {
  struct stat status {};
  if (::fstat(fd, &status) != 0) base::throw_errno("cannot read captured output", errno);
  return static_cast<std::size_t>(status.st_size);
}

}  // namespace

CapturedOutput::Stream::Stream(int stream)
    : number(stream),
      file(checked(::memfd_create("distrun-captured", MFD_CLOEXEC), "cannot capture output")),
      before(checked(::fcntl(stream, F_DUPFD_CLOEXEC, 3), "cannot capture output")) {
  flush_all();
  ::fcntl(file.get(), F_SETFL, O_APPEND);  // as with a pipe, no process overwrites another's output
  if (::dup2(file.get(), number) < 0) base::throw_errno("cannot capture output", errno);
}

CapturedOutput::Stream::~Stream() {
  flush_all();
  ::dup2(before.get(), number);
}

std::string CapturedOutput::Stream::text() const {
  flush_all();
  const std::size_t size = size_of(file.get());
  if (size > kTextMax) {
    throw Error(ErrorKind::Overloaded, "captured output has " + std::to_string(size) + " bytes; at most " +
                                           std::to_string(kTextMax) + " can be read");
  }
  std::string text(size, '\0');
  for (std::size_t done = 0; done < size;) {
    const ssize_t count = ::pread(file.get(), text.data() + done, size - done, static_cast<off_t>(done));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) base::throw_errno("cannot read captured output", errno);
    if (count == 0) break;
    done += static_cast<std::size_t>(count);
  }
  return text;
}

CapturedOutput::CapturedOutput() : out_(STDOUT_FILENO), err_(STDERR_FILENO) {}
CapturedOutput::~CapturedOutput() = default;

std::string CapturedOutput::out() const { return out_.text(); }
std::string CapturedOutput::err() const { return err_.text(); }

}  // namespace distrun
