#include "capture.hpp"

#include <algorithm>
#include <utility>

#include <distrun/runner/evidence/proc/task_state.hpp>

namespace distrun::probe {
namespace {

constexpr std::uint64_t kRedZone = 128;  // below the stack pointer, yet used by leaf functions

StackCopy copy_used_stack(pid_t tid, std::uint64_t sp, const Mappings& mappings, std::size_t copy_max) {
  const Mapping* stack = mappings.find(sp);
  if (stack == nullptr) return {};
  const std::uint64_t begin = std::max(stack->begin, sp - std::min(sp, kRedZone));
  return copy_stack(tid, begin, std::min(stack->end, begin + copy_max));
}

// A structure does not begin before its page, so what precedes may be unreadable; it may also end with the page.
FutexWords words_around(pid_t tid, std::uint64_t futex) {
  constexpr std::size_t kBefore = kWordsBefore * sizeof(std::uint32_t);
  FutexWords words{};
  if (read_memory(tid, futex - kBefore, words.data(), sizeof words) >= kBefore + sizeof(MutexHead)) return words;
  words = {};
  read_memory(tid, futex, words.data() + kWordsBefore, sizeof words - kBefore);
  return words;
}

void copy_futex(pid_t tid, Capture& capture) {
  const std::uint64_t futex = capture.registers.futex_address();
  MutexHead& head = capture.at_futex;
  if (futex != 0 && read_memory(tid, futex, &head, sizeof head) == sizeof head) capture.futex = futex;
  if (capture.futex != 0) capture.around_futex = words_around(tid, futex);
}

}  // namespace

std::optional<Capture> capture_thread(pid_t tid, const Mappings& mappings, std::size_t copy_max) {
  Capture capture;
  if (!capture.registers.read(tid)) return std::nullopt;
  capture.stack = copy_used_stack(tid, capture.registers.sp(), mappings, copy_max);
  copy_futex(tid, capture);
  return capture;
}

std::optional<Capture> capture_sleeping(pid_t pid, pid_t tid, const evidence::SyscallText& call,
                                        const Mappings& mappings, std::size_t copy_max) {
  const std::uint64_t used_before = evidence::read_pulse(pid, tid).cpu_ns;
  Capture capture;
  capture.registers = Registers::of_sleeping(call);
  capture.stack = copy_used_stack(tid, call.stack_pointer, mappings, copy_max);
  copy_futex(tid, capture);
  const auto now = evidence::read_call(pid, tid);
  const bool stayed = now && *now == call && evidence::read_pulse(pid, tid).cpu_ns == used_before;
  return stayed ? std::optional(std::move(capture)) : std::nullopt;
}

}  // namespace distrun::probe
