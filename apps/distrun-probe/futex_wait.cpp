#include "futex_wait.hpp"

#include <algorithm>
#include <cstdio>
#include <optional>

#include "mutex_wait.hpp"
#include "wait_functions.hpp"

namespace distrun::probe {
namespace {

using wire::WaitObject;

std::string hex(std::uint64_t address) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(address));
  return text;
}

std::uint32_t word(const FutexPlace& place, std::uint64_t address) {
  constexpr std::uint64_t kWord = sizeof(std::uint32_t);
  const std::uint64_t index = (address - (place.address - kWordsBefore * kWord)) / kWord;  // huge for addresses before
  return index < place.words.size() ? place.words[index] : 0;
}

// ---- owners

struct Owner {
  pid_t tid = 0;
  bool by_chance = false;  // the word counts only if it names a thread of the process
};

// A robust mutex has its owner in the lock word as well, with flags.
bool is_robust_mutex(const MutexHead& head) {
  constexpr std::int32_t kRobust = 0x10, kKinds = 0x93;
  constexpr std::int32_t kThread = 0x3fff'ffff;
  return (head.kind & kRobust) != 0 && (head.kind & ~kKinds) == 0 && head.owner > 0 &&
         (head.lock & kThread) == head.owner;
}

std::optional<Owner> owner_of_mutex(const FutexPlace& place) {
  MutexHead head;
  head.lock = static_cast<std::int32_t>(place.words[kWordsBefore]);
  head.owner = static_cast<std::int32_t>(place.words[kWordsBefore + 2]);
  head.users = place.words[kWordsBefore + 3];
  head.kind = static_cast<std::int32_t>(place.words[kWordsBefore + 4]);
  if (!is_contended_mutex(head) && !is_robust_mutex(head)) return std::nullopt;
  return Owner{head.owner};
}

// A thread waits for __wrphase_futex or __writers_futex, at 8 and 12 of a pthread_rwlock_t.
std::uint64_t base_of_lock(std::uint64_t address) { return (address & ~std::uint64_t{7}) - 8; }

// __cur_writer is at 24. The lock has no other sign of its kind.
std::optional<Owner> writer_of_lock(const FutexPlace& place) {
  constexpr std::uint64_t kWriter = 24;
  const auto writer = static_cast<pid_t>(word(place, base_of_lock(place.address) + kWriter));
  return writer > 0 ? std::optional(Owner{writer, true}) : std::nullopt;
}

std::string readers_note(const FutexPlace& place) {
  constexpr unsigned kShift = 3;  // below that are flags
  const std::uint32_t readers = word(place, base_of_lock(place.address)) >> kShift;
  if (readers == 0 || readers > 100'000) return "";
  return "held by " + std::to_string(readers) + (readers == 1 ? " reader" : " readers");
}

// A pthread_barrier_t has the number of arrivals, the current round (which the threads wait for), and the required
// number.
std::string arrivals_note(const FutexPlace& place) {
  const std::uint32_t arrived = word(place, place.address - 4) - word(place, place.address);
  const std::uint32_t required = word(place, place.address + 4);
  if (arrived == 0 || arrived >= required || required > 100'000) return "";
  return std::to_string(arrived) + " of " + std::to_string(required) + " threads have arrived";
}

// ---- the wait

std::string name_of_thread(const wire::ThreadStack& thread) {
  return "thread " + std::to_string(thread.task.tid) + " (" + thread.task.name + ")";
}

void add_note(const std::string& note, wire::ObservedWait& wait) {
  if (!note.empty()) wait.note += (wait.note.empty() ? "" : "; ") + note;
}

// A thread that existed before this process did cannot have been one of its threads: the lock was taken before fork().
// A forked process has a higher number than the threads of its parent, unless numbers have started again.
bool is_from_before_fork(pid_t owner, pid_t pid, const ProcessOfThread& process_of) {
  const pid_t process = process_of(owner);
  return process != 0 ? process != pid : owner < pid;
}

void set_lost_owner(pid_t owner, const FutexPlace& place, const ProcessOfThread& process_of, wire::ObservedWait& wait) {
  wait.enders.clear();
  const bool forked = is_from_before_fork(owner, place.pid, process_of);
  add_note(forked ? "held by a thread that did not survive fork()"
                  : "its owner, thread " + std::to_string(owner) + ", has exited",
           wait);
}

void set_owner(const Owner& owner, const FutexPlace& place, const std::vector<wire::ThreadStack>& threads,
               const ProcessOfThread& process_of, wire::ObservedWait& wait) {
  const auto found = std::find_if(threads.begin(), threads.end(),
                                  [&](const wire::ThreadStack& thread) { return thread.task.tid == owner.tid; });
  if (found != threads.end()) {
    wait.enders = {{place.pid, owner.tid, name_of_thread(*found)}};
    if (owner.tid == place.tid) add_note("this thread itself holds it", wait);
  } else if (!owner.by_chance && process_of(owner.tid) != place.pid) {
    set_lost_owner(owner.tid, place, process_of, wait);
  }
}

void set_shared_writer(const FutexPlace& place, const ProcessOfThread& process_of, wire::ObservedWait& wait) {
  const auto writer = writer_of_lock(place);
  const pid_t process = writer ? process_of(writer->tid) : 0;
  if (process == 0) return add_note(writer ? "" : readers_note(place), wait);
  wait.enders = {{process, writer->tid, "thread " + std::to_string(writer->tid)}};
  wait.closed = wait.limit.empty();
}

// Threads that wait for the same object may wait for different words of it, and the waits of std::atomic use words
// that many objects share.
std::string key_of(WaitObject object, const FutexPlace& place, const std::string& seen) {
  const std::string prefix = "futex:" + std::to_string(place.pid) + ":";
  if (object == WaitObject::ReadWriteLock || object == WaitObject::ConditionVariable) {
    return seen.starts_with(prefix) ? prefix + hex(place.address & ~std::uint64_t{7}) : seen;
  }
  const bool uses_atomics = std::any_of(place.functions.begin(), place.functions.end(), [](const std::string& name) {
    return wait_in_runtime({name}).object == WaitObject::AtomicWait;
  });
  return uses_atomics ? "" : seen;
}

std::string name_of(const WaitFunction& function, const FutexPlace& place, const std::string& key) {
  const bool is_shown = function.object != WaitObject::StaticGuard && function.object != WaitObject::HeapLock &&
                        function.object != WaitObject::LoaderLock && !key.empty();
  return is_shown ? function.name + " " + hex(place.address) : function.name;
}

void add_memory(const FutexPlace& place, const std::vector<wire::ThreadStack>& threads,
                const ProcessOfThread& process_of, wire::ObservedWait& wait) {
  std::optional<Owner> owner;
  if (wait.object == WaitObject::Mutex || wait.object == WaitObject::LoaderLock) owner = owner_of_mutex(place);
  if (wait.object == WaitObject::ReadWriteLock) owner = writer_of_lock(place);
  if (owner) set_owner(*owner, place, threads, process_of, wait);
  if (wait.object == WaitObject::ReadWriteLock && !owner) add_note(readers_note(place), wait);
  const bool is_posix = !place.functions.empty() && wait.name.starts_with("barrier");
  if (wait.object == WaitObject::Barrier && is_posix) add_note(arrivals_note(place), wait);
}

}  // namespace

wire::ObservedWait observe_futex(const FutexPlace& place, wire::ObservedWait seen,
                                 const std::vector<wire::ThreadStack>& threads, const ProcessOfThread& process_of) {
  if (seen.object != WaitObject::Unknown && seen.object != WaitObject::None)
    return seen;  // the kernel's view is better
  const WaitFunction function = wait_in_runtime(place.functions);
  if (function.object == WaitObject::None || place.address == 0) return seen;
  seen.object = function.object;
  seen.key = key_of(function.object, place, seen.key);
  const bool is_shared = !seen.name.empty() && seen.enders.empty();
  seen.name = is_shared ? function.name + " in " + seen.name : name_of(function, place, seen.key);
  if (place.has_other_ids) {
    seen.closed = false;  // its owner is not known, and may be alive
  } else if (!is_shared) {
    add_memory(place, threads, process_of, seen);
  } else if (seen.object == WaitObject::ReadWriteLock) {
    set_shared_writer(place, process_of, seen);
  }
  return seen;
}

}  // namespace distrun::probe
