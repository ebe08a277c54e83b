#pragma once
// Reads another rank's memory while that rank waits.
#include <cstddef>
#include <cstdint>
#include <string>

#include <distrun/runtime/collectives/shm/area.hpp>

namespace distrun::collectives::shm {

class PeerMemory {
 public:
  explicit PeerMemory(std::shared_ptr<Area> area) : area_(std::move(area)) {}

  // Returns the bytes themselves if all ranks are threads of this process; null if they must be read. In a group with
  // other processes the kernel reads a thread's bytes too: another process may have written the address, and the kernel
  // refuses invalid ones.
  const std::byte* direct(std::uint64_t address) const noexcept;
  // Throws base::PeerFailed if the rank's process is gone, Error{Failed} if its memory may not be read.
  void read(int rank, std::uint64_t address, std::byte* into, std::size_t size) const;
  // Returns whether read() works with this rank, by reading its probe; if not, sets `why_not`.
  bool can_read(int rank, std::string& why_not) const;

 private:
  std::shared_ptr<Area> area_;
};

}  // namespace distrun::collectives::shm
