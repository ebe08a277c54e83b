#include <linux/futex.h>

#include <cstdio>
#include <ctime>

#include <distrun/runner/evidence/proc/proc_files.hpp>
#include <distrun/runner/evidence/proc/task_state.hpp>
#include <distrun/runner/evidence/waits/decode_call.hpp>

namespace distrun::evidence {
namespace {

std::string hex(std::uint64_t number) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(number));
  return text;
}

bool waits(int operation) {
  constexpr int kLockPi2 = 13;  // which some headers lack
  return operation == FUTEX_WAIT || operation == FUTEX_WAIT_BITSET || operation == FUTEX_LOCK_PI ||
         operation == FUTEX_WAIT_REQUEUE_PI || operation == kLockPi2;
}

bool is_priority_lock(int operation) { return operation == FUTEX_LOCK_PI || operation == 13; }

// The part of glibc's mutex that identifies its owner; the same on all 64-bit machines.
struct GlibcMutex {
  std::int32_t lock;  // 2: taken, with waiters
  std::uint32_t count;
  std::int32_t owner;
  std::uint32_t users;
  std::int32_t kind;
};

// Returns the owner of the process-shared mutex with its word at `address`; 0 unless all its fields look like a mutex.
std::uint32_t owner_of_shared_mutex(const RemoteMemory& memory, std::uint64_t address) {
  constexpr std::int32_t kShared = 128, kRobust = 16, kKinds = 0xff;
  const auto mutex = memory.value<GlibcMutex>(address);
  if (!mutex || (mutex->kind & kShared) == 0 || (mutex->kind & ~kKinds) != 0 || mutex->owner <= 0) return 0;
  const std::uint32_t word_owner = static_cast<std::uint32_t>(mutex->lock) & FUTEX_TID_MASK;
  const bool robust = (mutex->kind & kRobust) != 0;
  if (robust) return word_owner == static_cast<std::uint32_t>(mutex->owner) ? word_owner : 0;
  return mutex->lock == 2 ? static_cast<std::uint32_t>(mutex->owner) : 0;
}

// A process in a container knows threads by other ids.
void add_holder(std::uint32_t tid, Blocked& blocked) {
  if (tid == 0 || has_other_ids(blocked.pid)) return;
  const pid_t holder = process_of(static_cast<pid_t>(tid));
  if (holder == 0) {
    blocked.lock_note = "its owner, thread " + std::to_string(tid) + ", has exited";
    return;
  }
  blocked.owner = static_cast<pid_t>(tid);
  blocked.pids.push_back(holder);
}

// A thread that ends clears the word that holds its id and wakes its waiters; pthread_join() waits for that.
bool is_join(const SyscallText& call, const std::optional<std::uint32_t>& word, pid_t pid) {
  return word && *word != 0 && *word == call.args[2] && process_of(static_cast<pid_t>(*word)) == pid;
}

}  // namespace

void decode_futex(const RemoteMemory& memory, const SyscallText& call, Blocked& blocked) {
  const std::uint64_t address = call.args[0];
  const int operation = static_cast<int>(call.args[1]) & FUTEX_CMD_MASK;
  const bool is_private = (call.args[1] & FUTEX_PRIVATE_FLAG) != 0;
  blocked.call = "futex(" + hex(address) + ")";
  blocked.kind = waits(operation) ? BlockKind::Futex : BlockKind::Other;
  blocked.bounded = call.args[3] != 0;
  if (blocked.kind != BlockKind::Futex) return;
  const auto word = memory.value<std::uint32_t>(address);
  const auto place = is_private ? std::nullopt : memory.shared_place(address);
  blocked.lock = "a futex of its own at " + hex(address);
  blocked.lock_key = std::to_string(blocked.pid) + ":" + hex(address);
  blocked.is_shared = place.has_value();
  if (is_priority_lock(operation) && word) add_holder(*word & FUTEX_TID_MASK, blocked);
  if (place) {
    blocked.lock = "shared memory " + (place->path.empty() ? place->file : place->path) + " + " + hex(place->offset);
    blocked.lock_key = place->file + ":" + hex(place->offset);
    if (blocked.pids.empty()) add_holder(owner_of_shared_mutex(memory, address), blocked);
  } else if (!is_private && is_join(call, word, blocked.pid)) {
    blocked.kind = BlockKind::Thread;
    blocked.owner = static_cast<pid_t>(*word);
    const std::string tid = std::to_string(*word);
    blocked.lock = "thread " + tid + " (" + name_in(proc_path(blocked.pid, "task/") + tid) + ")";
  }
}

}  // namespace distrun::evidence
