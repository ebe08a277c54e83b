#include <distrun/runtime/device/drivers/virtual/shared_area.hpp>

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/rng.hpp>
#include <distrun/runtime/device/drivers/virtual/memory.hpp>

namespace distrun::device::virtual_gpu {

MappedArea::MappedArea() : memfd_(make_memfd("distrun shared area", sizeof(SharedArea))) {
  map();
  area_->pid = ::getpid();
  area_->token = base::random_seed() | 1;
}

MappedArea::MappedArea(const Peer& other) : memfd_(open_descriptor_of(other.pid, other.fd, other.inode)) { map(); }

void MappedArea::map() {
  void* address = ::mmap(nullptr, sizeof(SharedArea), PROT_READ | PROT_WRITE, MAP_SHARED, memfd_.get(), 0);
  if (address == MAP_FAILED) base::throw_errno("cannot map what a process shows of its virtual devices", errno);
  area_ = static_cast<SharedArea*>(address);
}

MappedArea::~MappedArea() { ::munmap(area_, sizeof(SharedArea)); }

Peer MappedArea::address() const {
  return {area_->token.load(), inode_of(memfd_.get()), area_->pid.load(), memfd_.get()};
}

base::Fd open_descriptor_of(int pid, int fd, std::uint64_t inode) {
  const std::string path = "/proc/" + std::to_string(pid) + "/fd/" + std::to_string(fd);
  base::Fd opened(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  if (!opened) {
    throw Error(ErrorKind::Disconnected, "cannot open what process " + std::to_string(pid) +
                                             " has exported of its virtual devices: " + base::errno_text(errno));
  }
  if (inode_of(opened.get()) != inode) {
    throw Error(ErrorKind::Disconnected,
                "process " + std::to_string(pid) + " is no longer the one that has made the handle");
  }
  return opened;
}

std::uint64_t inode_of(int fd) {
  struct stat found {};
  if (::fstat(fd, &found) != 0) base::throw_errno("cannot look at a descriptor", errno);
  return found.st_ino;
}

bool is_alive(int pid) noexcept { return ::kill(pid, 0) == 0 || errno == EPERM; }

}  // namespace distrun::device::virtual_gpu
