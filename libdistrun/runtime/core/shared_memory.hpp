#pragma once
// Memory that processes of one user on one machine share. It is a memfd: it has no name, so nothing is left of it when
// the last process that maps it ends, however that ends. Others open it through the descriptors of its owner in /proc.
#include <cstddef>
#include <cstdint>

#include <distrun/common/base/fd.hpp>

namespace distrun::core {

// How others find a descriptor of a process: its number there, and the file that it must still be.
struct SharedAddress {
  std::uint64_t inode = 0;
  std::int32_t pid = 0;
  std::int32_t fd = -1;
};

// Its size is sealed: nobody can take away what others have mapped. `what` it is for is in its name, which only /proc
// shows, and in errors. Throws Error{Failed}.
base::Fd make_memfd(const char* what, std::size_t bytes);

// A descriptor of another process. Throws Error{Disconnected} if that process, or the file there, is gone.
base::Fd open_descriptor_of(const SharedAddress& address);
// Of this process, for others.
SharedAddress address_of(int fd);
// One that has ended and was not reaped is not.
bool is_alive(int pid) noexcept;

// All of a memfd, mapped to read and write. Immovable; unmapped with its owner.
class SharedMemory {
 public:
  // New, zeros. Throws Error{Failed}.
  SharedMemory(const char* what, std::size_t bytes);
  // Another process's, of that size; what is smaller, or not of a sealed size, is refused. Throws Error{Disconnected,
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
