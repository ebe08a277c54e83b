#include <distrun/runner/proc/system_v.hpp>

#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>

namespace distrun::proc {
namespace {

constexpr std::uint64_t kSemaphoresMax = 64;  // semaphores of a set that are queried for their last user

// Declared as semctl(2) requires.
union semun {
  int val;
  semid_ds* buf;
  unsigned short* array;
  seminfo* info;
};

bool any_segments() {
  shm_info info{};
  return ::shmctl(0, SHM_INFO, reinterpret_cast<shmid_ds*>(&info)) < 0 || info.used_ids > 0;
}

bool any_semaphores() {
  seminfo info{};
  semun argument{};
  argument.info = &info;
  return ::semctl(0, 0, SEM_INFO, argument) < 0 || info.semusz > 0;  // SEM_INFO returns the number of sets here
}

bool any_queues() {
  msginfo info{};
  return ::msgctl(0, MSG_INFO, reinterpret_cast<msqid_ds*>(&info)) < 0 || info.msgpool > 0;  // the number of queues
}

// Parses the numbers of a line: its key, id, permissions (octal, in decimal digits) and so on.
std::vector<std::int64_t> numbers_of(const std::string& line) {
  std::vector<std::int64_t> numbers;
  const char* at = line.c_str();
  for (char* next = nullptr;; at = next) {
    const std::int64_t number = std::strtoll(at, &next, 10);
    if (next == at) return numbers;
    numbers.push_back(number);
  }
}

SystemVObject common_of(SystemVKind kind, const std::vector<std::int64_t>& line, std::size_t owner) {
  SystemVObject object;
  object.kind = kind;
  object.key = static_cast<std::uint32_t>(line[0]);
  object.id = static_cast<int>(line[1]);
  object.owner = static_cast<std::uint32_t>(line[owner]);
  return object;
}

// "key shmid perms size cpid lpid nattch uid"
SystemVObject segment_of(const std::vector<std::int64_t>& line) {
  SystemVObject object = common_of(SystemVKind::Segment, line, 7);
  object.pids = {static_cast<pid_t>(line[4])};
  object.attached = static_cast<std::uint64_t>(line[6]);
  return object;
}

// "key semid perms nsems uid"
SystemVObject semaphores_of(const std::vector<std::int64_t>& line) {
  SystemVObject object = common_of(SystemVKind::Semaphores, line, 4);
  const auto count = std::min(static_cast<std::uint64_t>(line[3]), kSemaphoresMax);
  for (std::uint64_t i = 0; i < count; ++i) {
    object.pids.push_back(std::max(::semctl(object.id, static_cast<int>(i), GETPID), 0));
  }
  return object;
}

// "key msqid perms cbytes qnum lspid lrpid uid"
SystemVObject queue_of(const std::vector<std::int64_t>& line) {
  SystemVObject object = common_of(SystemVKind::Queue, line, 7);
  object.pids = {static_cast<pid_t>(line[5]), static_cast<pid_t>(line[6])};
  return object;
}

void add(const char* path, SystemVObject (*object_of)(const std::vector<std::int64_t>&),
         std::vector<SystemVObject>& objects) {
  constexpr std::size_t kNumbersMin = 8;
  std::ifstream list(path);
  for (std::string line; std::getline(list, line);) {
    const std::vector<std::int64_t> numbers = numbers_of(line);
    if (numbers.size() >= kNumbersMin) objects.push_back(object_of(numbers));  // skips the header line
  }
}

}  // namespace

std::vector<SystemVObject> system_v_objects() {
  std::vector<SystemVObject> objects;
  if (any_segments()) add("/proc/sysvipc/shm", segment_of, objects);
  if (any_semaphores()) add("/proc/sysvipc/sem", semaphores_of, objects);
  if (any_queues()) add("/proc/sysvipc/msg", queue_of, objects);
  return objects;
}

std::string SystemVObject::describe() const {
  const char* what = kind == SystemVKind::Segment      ? "segment"
                     : kind == SystemVKind::Semaphores ? "semaphores"
                                                       : "queue";
  char text[80];
  std::snprintf(text, sizeof text, "System V %s %d (key 0x%x)", what, id, key);
  return text;
}

bool remove_system_v(const SystemVObject& object) {
  switch (object.kind) {
    case SystemVKind::Segment: return ::shmctl(object.id, IPC_RMID, nullptr) == 0;
    case SystemVKind::Semaphores: return ::semctl(object.id, 0, IPC_RMID) == 0;
    case SystemVKind::Queue: return ::msgctl(object.id, IPC_RMID, nullptr) == 0;
  }
  return false;
}

}  // namespace distrun::proc
