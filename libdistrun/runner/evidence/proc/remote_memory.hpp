#pragma once
// A few words of another process's memory, which it may change at any time, and what lies at an address there.
// Reading it needs a lock that the process may hold while it sleeps uninterruptibly, and then we would sleep with it:
// so a process with such a thread is not read.
#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace distrun::evidence {

// A place in shared memory: the same for each process that maps it, wherever it does.
struct SharedPlace {
  std::string file;  // "device:inode" as in maps, which tells apart what has the same path
  std::string path;  // "/dev/shm/x"; "/dev/zero (deleted)" for shared memory without a name
  std::uint64_t offset = 0;
  friend bool operator==(const SharedPlace&, const SharedPlace&) = default;
};
// What lies at `address`, from a text of /proc/PID/maps; nothing if it is private to the process, or not mapped.
std::optional<SharedPlace> find_shared(std::string_view maps, std::uint64_t address);

class RemoteMemory {
 public:
  // With `readable` false there is nothing to be read anywhere.
  RemoteMemory(pid_t pid, bool readable) : pid_(pid), readable_(readable) {}

  pid_t pid() const noexcept { return pid_; }
  // False if not all of it could be read.
  bool read(std::uint64_t address, void* into, std::size_t size) const;

  template <class Value>
  std::optional<Value> value(std::uint64_t address) const {
    Value value{};
    if (!read(address, &value, sizeof value)) return std::nullopt;
    return value;
  }
  // `count` values; none at all if one of them can't be read.
  template <class Value>
  std::vector<Value> values(std::uint64_t address, std::size_t count) const {
    std::vector<Value> values(count);
    if (count == 0 || !read(address, values.data(), count * sizeof(Value))) values.clear();
    return values;
  }
  // Up to the terminating zero, safe to show; empty if it can't be read.
  std::string string(std::uint64_t address) const;
  std::optional<SharedPlace> shared_place(std::uint64_t address) const;

 private:
  pid_t pid_;
  bool readable_;
};

}  // namespace distrun::evidence
