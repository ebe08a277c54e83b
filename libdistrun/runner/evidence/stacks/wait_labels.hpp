#pragma once
// Names the object that a thread waits for and its holder, and finds threads that wait for each other in a cycle.
// Thread-safe after construction.
#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>

#include <distrun/runner/evidence/stacks/stacks.hpp>

namespace distrun::evidence {

// Returns whether the thread waits for a lock of any kind.
bool waits_for_lock(const wire::ThreadStack& thread) noexcept;

class WaitLabels {
 public:
  // `stacks` must outlive this.
  explicit WaitLabels(const Stacks& stacks);

  // Returns "mutex 0x55... held by thread 4711 (worker)", "the end of thread 4712 (worker)", "pipe 8812, other end at
  // rank 1". Empty if neither the holder nor the state of the object is known: the call says as much then.
  std::string label_of(const Process& process, const wire::ThreadStack& thread) const;
  // The same for comparing threads of different processes: without the numbers of an object that belongs to one
  // process.
  std::string kind_of(const Process& process, const wire::ThreadStack& thread) const;
  // Returns a number that is equal for all threads of a cycle of waits, but differs for each thread of a short cycle.
  // 0: the thread is in no cycle.
  std::int64_t cycle_of(const wire::ThreadStack& thread, int host = 0) const;

 private:
  using Id = std::int64_t;  // of a process or thread: the number of its machine, then the kernel's id

  struct Edge {
    Id to = 0;
    Id cycle = 0;
    std::uint32_t walk = 0;  // the search that reached it; 0: not yet
  };

  void add_edge(const Process& process, const wire::ThreadStack& thread);
  void mark_cycle(Id start, std::uint32_t walk);
  const Process* find_process(const Process& waiter, const wire::WaitEnder& ender) const;
  std::string holder_name(const Process& process, const wire::WaitEnder& ender) const;
  std::string holders_of(const Process& process, const wire::ObservedWait& wait) const;
  std::string other_end(const Process& process, const wire::ObservedWait& wait) const;

  const Stacks& stacks_;
  std::unordered_map<Id, const Process*> processes_;
  std::unordered_map<Id, Edge> edges_;  // by thread: its only ender, if it has one
};

// Replaces each number by #.
std::string without_numbers(std::string_view text);

}  // namespace distrun::evidence
