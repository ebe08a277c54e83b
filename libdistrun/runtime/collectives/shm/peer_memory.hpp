#pragma once
// Reading what is in another rank's memory, while that rank waits for it.
#include <cstddef>
#include <cstdint>
#include <string>

#include <distrun/runtime/collectives/shm/area.hpp>

namespace distrun::collectives::shm {

class PeerMemory {
 public:
  explicit PeerMemory(std::shared_ptr<Area> area) : area_(std::move(area)) {}

  // If all ranks are threads of this process, the bytes themselves; null: they have to be read. Where there are others,
  // a thread's bytes are read by the kernel, too: its address may have been written by another process, and the kernel
  // refuses what is no memory.
  const std::byte* direct(std::uint64_t address) const noexcept;
  // Throws base::PeerFailed if the rank's process is gone, Error{Failed} if its memory may not be read.
  void read(int rank, std::uint64_t address, std::byte* into, std::size_t size) const;
  // Whether that works with this rank; else `why_not` says why. By reading its seat where it has it.
  bool can_read(int rank, std::string& why_not) const;

 private:
  std::shared_ptr<Area> area_;
};

}  // namespace distrun::collectives::shm
