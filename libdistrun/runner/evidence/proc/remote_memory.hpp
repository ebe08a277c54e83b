#pragma once
// Reads a few words of another process's memory, which may change at any time, and finds the mapping at an address.
// Reading takes a lock that the process may hold while it sleeps uninterruptibly, and the reader would then sleep as
// well. So a process with such a thread is not read.
#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace distrun::evidence {

// A location in shared memory, equal for all processes that map it, even at different addresses.
struct SharedPlace {
  std::string file;  // "device:inode" as in maps, which distinguishes files with the same path
  std::string path;  // "/dev/shm/x"; "/dev/zero (deleted)" for anonymous shared memory
  std::uint64_t offset = 0;
  friend bool operator==(const SharedPlace&, const SharedPlace&) = default;
};
// Looks up `address` in the contents of /proc/PID/maps; empty if the memory there is private or not mapped.
std::optional<SharedPlace> find_shared(std::string_view maps, std::uint64_t address);

class RemoteMemory {
 public:
  // If `readable` is false, every read fails.
  RemoteMemory(pid_t pid, bool readable) : pid_(pid), readable_(readable) {}

  pid_t pid() const noexcept { return pid_; }
  // Returns false unless all of it could be read.
  bool read(std::uint64_t address, void* into, std::size_t size) const;

  template <class Value>
  std::optional<Value> value(std::uint64_t address) const {
    Value value{};
    if (!read(address, &value, sizeof value)) return std::nullopt;
    return value;
  }
  // Returns `count` values, or an empty vector if any of them cannot be read.
  template <class Value>
  std::vector<Value> values(std::uint64_t address, std::size_t count) const {
    std::vector<Value> values(count);
    if (count == 0 || !read(address, values.data(), count * sizeof(Value))) values.clear();
    return values;
  }
  // Returns the string up to its terminating zero, safe to show; empty if it cannot be read.
  std::string string(std::uint64_t address) const;
  std::optional<SharedPlace> shared_place(std::uint64_t address) const;

 private:
  pid_t pid_;
  bool readable_;
  mutable std::optional<std::string> maps_;  // read at the first use
};

}  // namespace distrun::evidence
