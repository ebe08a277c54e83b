#pragma once
// System V's shared memory, semaphores and message queues, which nobody's end removes. The kernel tells the maker of a
// segment; of the others only who used it last.
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
  std::vector<pid_t> pids;     // who made it, or has used it last; zeros are nobody
  std::uint64_t attached = 0;  // of a segment: by how many processes

  std::string describe() const;  // "System V segment 5 (key 0x4711)"
};

// All that there are on this machine. Three calls where there are none.
std::vector<SystemVObject> system_v_objects();

// Whether it is gone.
bool remove_system_v(const SystemVObject& object);

}  // namespace distrun::proc
