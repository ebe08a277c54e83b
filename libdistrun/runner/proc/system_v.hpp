#pragma once
// System V's shared memory, semaphores and message queues, which outlive their processes. The kernel records the
// creator of a segment, but only the last user of the others.
#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace distrun::proc {

enum class SystemVKind : std::uint8_t { Segment, Semaphores, Queue };

struct SystemVObject {
  SystemVKind kind = SystemVKind::Segment;
  int id = -1;
  std::uint32_t key = 0;
  std::uint32_t owner = 0;     // user id
  std::vector<pid_t> pids;     // creator or last users; 0: none
  std::uint64_t attached = 0;  // of a segment: number of attached processes

  std::string describe() const;  // "System V segment 5 (key 0x4711)"
};

// Returns all objects on this machine. Takes three calls if no object exists.
std::vector<SystemVObject> system_v_objects();

// Returns true if the object was removed.
bool remove_system_v(const SystemVObject& object);

}  // namespace distrun::proc
