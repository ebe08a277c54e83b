#include <distrun/runtime/core/shared_memory.hpp>

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <string>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/sealed_memory.hpp>

namespace distrun::core {
namespace {

struct stat look_at(int fd) {
  struct stat found {};
  if (::fstat(fd, &found) != 0) base::throw_errno("cannot inspect a descriptor", errno);
  return found;
}

}  // namespace

base::Fd make_memfd(const char* what, std::size_t bytes) {
  return base::make_sealed_memory((std::string("distrun ") + what).c_str(), bytes);
}

base::Fd open_descriptor_of(const SharedAddress& address) {
  const std::string process = "process " + std::to_string(address.pid);
  const std::string path = "/proc/" + std::to_string(address.pid) + "/fd/" + std::to_string(address.fd);
  base::Fd opened(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));  // the file may be another one now
  if (!opened) {
    throw Error(ErrorKind::Disconnected,
                "cannot open the memory shared by " + process + ": " + base::errno_text(errno));
  }
  if (look_at(opened.get()).st_ino != address.inode) {
    throw Error(ErrorKind::Disconnected, process + " is not the process that shared the memory");
  }
  return opened;
}

SharedAddress address_of(int fd) { return {look_at(fd).st_ino, ::getpid(), fd}; }

// A process that has ended and was not reaped still takes signals, but its pidfd is readable.
bool is_alive(int pid) noexcept {
  const base::Fd process(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (!process) return errno != ESRCH && errno != EINVAL;
  pollfd end{process.get(), POLLIN, 0};
  return ::poll(&end, 1, 0) == 0;
}

SharedMemory::SharedMemory(const char* what, std::size_t bytes) : memfd_(make_memfd(what, bytes)), size_(bytes) {
  map(what);
}

SharedMemory::SharedMemory(const SharedAddress& address, std::size_t bytes)
    : memfd_(open_descriptor_of(address)), size_(bytes) {
  const std::string process = "process " + std::to_string(address.pid);
  const std::optional<std::size_t> size = base::sealed_size(memfd_.get());
  if (!size) throw Error(ErrorKind::Disconnected, "the memory shared by " + process + " has no sealed size");
  if (*size < bytes) {
    throw Error(ErrorKind::Disconnected, "the memory shared by " + process + " is smaller than the " +
                                             std::to_string(bytes) + " bytes that this distrun expects");
  }
  map(("the memory shared by " + process).c_str());
}

void SharedMemory::map(const char* what) {
  data_ = ::mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED, memfd_.get(), 0);
  if (data_ == MAP_FAILED) base::throw_errno("cannot map " + std::to_string(size_) + " bytes for " + what, errno);
}

SharedMemory::~SharedMemory() { ::munmap(data_, size_); }

}  // namespace distrun::core
