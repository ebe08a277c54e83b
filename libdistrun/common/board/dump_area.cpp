#include <distrun/common/board/dump_area.hpp>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <string_view>
#include <utility>

namespace distrun::board {
namespace {

// Copies something that its writer may still change; all decisions are made on the copy.
template <class T>
T copy_of(const T& shared) noexcept {
  T copy;
  std::memcpy(&copy, &shared, sizeof copy);
  // Without the fence, the compiler might read the shared memory again instead of keeping the copy.
  std::atomic_signal_fence(std::memory_order_acq_rel);
  return copy;
}

template <std::size_t Size>
std::string text_in(const char (&field)[Size]) {
  return {field, ::strnlen(field, Size)};
}

std::vector<wire::RawModule> modules_of(const DumpArea& area, std::uint32_t count) {
  std::vector<wire::RawModule> modules;
  for (std::size_t i = 0; i < std::min<std::size_t>(count, kDumpModulesMax); ++i) {
    const DumpModule module = copy_of(area.modules[i]);
    modules.push_back({module.bias, text_in(module.path)});
  }
  return modules;
}

// Returns why an entry without pcs has no stack.
NoStack why_of(const DumpThread& thread) noexcept {
  const auto why = static_cast<std::uint8_t>(thread.why_none);
  return why == 0 || why >= kNoStackCount ? NoStack::NoAnswer : thread.why_none;
}

wire::RawThread thread_of(const DumpThread& thread) {
  wire::RawThread raw;
  raw.tid = thread.tid;
  raw.name = text_in(thread.name);
  raw.pcs.assign(thread.pcs, thread.pcs + std::min<std::size_t>(thread.pc_count, kDumpPcsMax));
  raw.crashed = (thread.flags & kDumpCrashed) != 0;
  raw.incomplete = (thread.flags & kDumpIncomplete) != 0;
  if (raw.pcs.empty()) raw.why_none = text_of(why_of(thread));
  return raw;
}

std::vector<wire::RawThread> threads_of(const DumpArea& area, std::uint32_t count) {
  std::vector<wire::RawThread> threads;
  for (std::size_t i = 0; i < std::min<std::size_t>(count, kDumpThreadsMax); ++i) {
    const DumpThread thread = copy_of(area.threads[i]);
    if (thread.tid > 0) threads.push_back(thread_of(thread));
  }
  return threads;
}

}  // namespace

const char* text_of(NoStack why) noexcept {
  switch (why) {
    case NoStack::None: return "";
    case NoStack::BlocksSignal: return "it blocks the signal for stacks";
    case NoStack::NoAnswer: return "it did not answer in time";
    case NoStack::Uninterruptible: return "it is in the kernel and cannot be interrupted (state D)";
    case NoStack::NotOurHandler: return "the test handles the signal for stacks itself";
    case NoStack::NotAsked: return "the signal for stacks could not be sent";
  }
  return "";
}

std::optional<Dump> read(const DumpArea& area) {
  std::atomic_thread_fence(std::memory_order_acquire);
  const DumpHead said = copy_of(area.head);
  if (said.state != DumpState::Writing && said.state != DumpState::Complete) return std::nullopt;
  Dump dump;
  dump.complete = said.state == DumpState::Complete;
  dump.signal = said.signal;
  dump.code = said.code;
  dump.address = said.address;
  dump.stack_pointer = said.stack_pointer;
  dump.crashed_tid = said.crashed_tid;
  dump.rank = said.owner - 1;
  dump.address_text = text_in(said.address_text);
  dump.left_out = said.left_out;
  // Another thread may have been about to end the process for another reason.
  if (said.exception_tid != 0 && said.exception_tid == said.crashed_tid) {
    dump.exception_type = text_in(said.exception_type);
    dump.exception_text = text_in(said.exception_text);
  }
  dump.stacks.pid = said.pid;
  dump.stacks.modules = modules_of(area, said.module_count);
  dump.stacks.threads = threads_of(area, said.thread_count);
  return dump;
}

}  // namespace distrun::board
