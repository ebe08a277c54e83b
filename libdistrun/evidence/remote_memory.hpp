#pragma once
// A few words of another process's memory, which it may change at any time, and what lies at an address there.
#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace distrun::evidence {

// False if it is not readable, or not ours to read.
bool read_memory(pid_t pid, std::uint64_t address, void* into, std::size_t size);

template <class Value>
std::optional<Value> value_in(pid_t pid, std::uint64_t address) {
  Value value{};
  if (!read_memory(pid, address, &value, sizeof value)) return std::nullopt;
  return value;
}
// `count` values; none at all if one of them can't be read.
template <class Value>
std::vector<Value> values_in(pid_t pid, std::uint64_t address, std::size_t count) {
  std::vector<Value> values(count);
  if (count == 0 || !read_memory(pid, address, values.data(), count * sizeof(Value))) values.clear();
  return values;
}
// Up to the terminating zero, safe to show; empty if it can't be read.
std::string string_in(pid_t pid, std::uint64_t address);

// A place in shared memory: the same for each process that maps it, wherever it does.
struct SharedPlace {
  std::string file;    // "device:inode" as in maps, which tells apart what has the same path
  std::string path;    // "/dev/shm/x"; "/dev/zero (deleted)" for shared memory without a name
  std::uint64_t offset = 0;
  friend bool operator==(const SharedPlace&, const SharedPlace&) = default;
};
// What lies at `address`, from a text of /proc/PID/maps; nothing if it is private to the process, or not mapped.
std::optional<SharedPlace> find_shared(std::string_view maps, std::uint64_t address);
std::optional<SharedPlace> shared_place(pid_t pid, std::uint64_t address);

}  // namespace distrun::evidence
