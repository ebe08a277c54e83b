#include "capture.hpp"

#include <algorithm>

namespace distrun::probe {
namespace {

constexpr std::uint64_t kStackMax = std::uint64_t{1} << 20;
constexpr std::uint64_t kRedZone = 128;  // below the stack pointer, yet in use by a leaf function

StackCopy copy_used_stack(pid_t pid, std::uint64_t sp, const Mappings& mappings) {
  const Mapping* stack = mappings.find(sp);
  if (stack == nullptr) return {};
  const std::uint64_t begin = std::max(stack->begin, sp - std::min(sp, kRedZone));
  return copy_stack(pid, begin, std::min(stack->end, begin + kStackMax));
}

}  // namespace

std::optional<Capture> capture_thread(pid_t pid, pid_t tid, const Mappings& mappings) {
  Capture capture;
  if (!capture.registers.read(tid)) return std::nullopt;
  capture.stack = copy_used_stack(pid, capture.registers.sp(), mappings);
  const std::uint64_t futex = capture.registers.futex_address();
  MutexHead& head = capture.at_futex;
  if (futex != 0 && read_memory(pid, futex, &head, sizeof head) == sizeof head) capture.futex = futex;
  return capture;
}

}  // namespace distrun::probe
