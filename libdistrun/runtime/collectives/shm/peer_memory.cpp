#include <distrun/runtime/collectives/shm/peer_memory.hpp>

#include <sys/uio.h>

#include <cerrno>
#include <cstring>

#include <distrun/common/base/error.hpp>

namespace distrun::collectives::shm {
namespace {

// Returns the number of bytes read, or -1.
ssize_t read_some(int pid, std::uint64_t address, std::byte* into, std::size_t size) noexcept {
  const iovec local{into, size};
  const iovec remote{reinterpret_cast<void*>(address), size};  // NOLINT(performance-no-int-to-ptr): of another process
  return ::process_vm_readv(pid, &local, 1, &remote, 1, 0);
}

}  // namespace

const std::byte* PeerMemory::direct(std::uint64_t address) const noexcept {
  if (!area_->is_one_process()) return nullptr;
  return reinterpret_cast<const std::byte*>(address);  // NOLINT(performance-no-int-to-ptr): a thread's, shown as number
}

void PeerMemory::read(int rank, std::uint64_t address, std::byte* into, std::size_t size) const {
  if (const std::byte* own = direct(address)) {
    std::memcpy(into, own, size);
    return;
  }
  const int pid = area_->pid_of(rank);
  while (size > 0) {
    const ssize_t got = read_some(pid, address, into, size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == ESRCH) throw base::PeerFailed("its process " + std::to_string(pid) + " is gone", rank);
    if (got <= 0) {
      base::throw_errno("cannot read " + std::to_string(size) + " bytes of process " + std::to_string(pid), errno);
    }
    address += static_cast<std::uint64_t>(got);
    into += got;
    size -= static_cast<std::size_t>(got);
  }
}

bool PeerMemory::can_read(int rank, std::string& why_not) const {
  if (area_->is_one_process()) return true;
  const std::uint64_t probed = area_->seat(rank).probe.load();
  std::uint64_t found = 0;
  const ssize_t got = read_some(area_->pid_of(rank), probed, reinterpret_cast<std::byte*>(&found), sizeof found);
  if (got == sizeof found && found == kMagic) return true;
  why_not = got < 0 ? base::errno_text(errno) : "another process has that pid";
  return false;
}

}  // namespace distrun::collectives::shm
