#pragma once
// Memory that processes of one user on one machine share. It is a memfd without a name, so nothing remains when the
// last process that maps it ends in any way. Other processes open it through its owner's descriptors in /proc.
#include <cstddef>
#include <cstdint>

#include <distrun/common/base/fd.hpp>

namespace distrun::core {

// Identifies a descriptor of a process for other processes: its number, and the file that it must refer to.
struct SharedAddress {
  std::uint64_t inode = 0;
  std::int32_t pid = 0;
  std::int32_t fd = -1;
};

// Creates a memfd of sealed size, so mapped memory cannot be taken away. `what` it is for is in its name, which only
// /proc shows, and in errors. Throws Error{Failed}.
base::Fd make_memfd(const char* what, std::size_t bytes);

// Opens a descriptor of another process. Throws Error{Disconnected} if that process, or the file there, is gone.
base::Fd open_descriptor_of(const SharedAddress& address);
// Returns the address of a descriptor of this process, for others.
SharedAddress address_of(int fd);
// Returns false also for a process that has ended but was not reaped.
bool is_alive(int pid) noexcept;

// A memfd, mapped as a whole to read and write. Immovable; unmaps it at destruction.
class SharedMemory {
 public:
  // Creates memory filled with zeros. Throws Error{Failed}.
  SharedMemory(const char* what, std::size_t bytes);
  // Maps another process's memory; refuses it if it is smaller or its size is not sealed. Throws Error{Disconnected,
  // Failed}.
  SharedMemory(const SharedAddress& address, std::size_t bytes);
  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  void* data() const noexcept { return data_; }
  std::size_t size() const noexcept { return size_; }
  SharedAddress address() const { return address_of(memfd_.get()); }

 private:
  void map(const char* what);

  base::Fd memfd_;
  std::size_t size_;
  void* data_ = nullptr;
};

}  // namespace distrun::core
