#include <distrun/runtime/core/call_stack.hpp>

#include <link.h>
#include <pthread.h>
#include <unwind.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <mutex>
#include <unordered_map>
#include <utility>

namespace distrun::core {
namespace {

constexpr std::size_t kFramesMost = 64;
// Frames beyond the library's code: functions of its headers that were not inlined, and those that call back.
constexpr std::size_t kOutsideMost = 6;
constexpr std::size_t kKnownMost = 1 << 18;  // frames of all stacks, about 80 bytes each
constexpr std::uint64_t kWord = sizeof(std::uint64_t);

struct CodeRange {
  std::uint64_t begin = 0, end = 0;  // end 0: none
};

// Finds the program or library that contains this function.
int visit_file(dl_phdr_info* info, std::size_t, void* self) {
  const auto here = reinterpret_cast<std::uint64_t>(&visit_file);
  const bool is_program = info->dlpi_name == nullptr || *info->dlpi_name == '\0';
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = info->dlpi_phdr[i];
    const std::uint64_t begin = info->dlpi_addr + part.p_vaddr;
    if (part.p_type != PT_LOAD || here - begin >= part.p_memsz) continue;
    if (!is_program) *static_cast<CodeRange*>(self) = {begin, begin + part.p_memsz};
    return 1;
  }
  return 0;
}

const CodeRange& own_library() noexcept {
  static const CodeRange range = [] {
    CodeRange found;
    ::dl_iterate_phdr(visit_file, &found);
    return found;
  }();
  return range;
}

// Returns the end of the calling thread's stack; 0: unknown.
std::uint64_t find_stack_end() noexcept {
  pthread_attr_t attributes;
  if (::pthread_getattr_np(::pthread_self(), &attributes) != 0) return 0;
  void* lowest = nullptr;
  std::size_t size = 0;
  const bool is_known = ::pthread_attr_getstack(&attributes, &lowest, &size) == 0;
  ::pthread_attr_destroy(&attributes);
  return is_known ? reinterpret_cast<std::uint64_t>(lowest) + size : 0;
}

bool is_on_stack(std::uint64_t slot) noexcept {
  static thread_local const std::uint64_t end = find_stack_end();
  return slot % kWord == 0 && slot < end && end - slot >= kWord;
}

// Reads a word of an outer frame of this thread, between arbitrary variables.
__attribute__((no_sanitize("address"))) std::uint64_t word_at(std::uint64_t slot) noexcept {
  return *reinterpret_cast<const volatile std::uint64_t*>(slot);
}

// The unwinder's frames, innermost first: return addresses, and their slots on the stack on x86-64.
struct Walk {
  std::array<std::uint64_t, kFramesMost> pcs, slots;
  std::size_t size = 0;
  std::size_t outside = 0;
};

_Unwind_Reason_Code on_frame(_Unwind_Context* context, void* self) {
  Walk& walk = *static_cast<Walk*>(self);
  const std::uint64_t pc = _Unwind_GetIP(context);
  if (pc == 0) return _URC_END_OF_STACK;
  walk.pcs[walk.size] = pc;
  walk.slots[walk.size++] = _Unwind_GetCFA(context) - kWord;  // the stack pointer at the call is the frame's address
  if (own_library().end != 0 && !is_in_own_library(pc)) ++walk.outside;
  return walk.size < kFramesMost && walk.outside < kOutsideMost ? _URC_NO_REASON : _URC_END_OF_STACK;
}

// All stacks, as a tree from the innermost frames outwards.
class KnownStacks {
 public:
  // Returns the stack of the frame with the return address `pc`, at `slot` if it is where x86-64 has it, and of the
  // outer frames.
  const CallStack* find(std::uint64_t pc, std::uint64_t slot) {
    const std::lock_guard lock(mutex_);
    const Frame* const known = follow(slot);
    return known != nullptr ? &known->stack : learn(pc);
  }

 private:
  struct Frame {
    CallStack stack;
    std::uint64_t to_next = 0;  // bytes from its return address to the next one; 0: unknown
    bool is_last = false;
  };
  struct Key {
    const CallStack* inner;
    std::uint64_t pc;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct HashKey {
    std::size_t operator()(const Key& key) const noexcept {
      return (reinterpret_cast<std::uint64_t>(key.inner) * 31 + key.pc) * 0x9e3779b97f4a7c15 >> 20;
    }
  };

  // Returns null if the stack is not known or has changed.
  const Frame* follow(std::uint64_t slot) const {
    for (const CallStack* inner = nullptr; is_on_stack(slot);) {
      const auto found = frames_.find({inner, word_at(slot)});
      if (found == frames_.end()) return nullptr;
      const Frame& frame = found->second;
      if (frame.is_last || frame.to_next == 0) return frame.is_last ? &frame : nullptr;
      inner = &frame.stack;
      slot += frame.to_next;
    }
    return nullptr;
  }

  // Unwinds the stack; its first frames are functions of this file.
  const CallStack* learn(std::uint64_t pc) {
    Walk walk;
    _Unwind_Backtrace(on_frame, &walk);
    std::size_t i = 0;
    while (i < walk.size && walk.pcs[i] != pc) ++i;
    Frame* frame = nullptr;
    for (; i < walk.size; ++i) {
      const CallStack* const inner = frame != nullptr ? &frame->stack : nullptr;
      if (frames_.size() >= kKnownMost && !frames_.contains({inner, walk.pcs[i]})) return nullptr;
      // A stack that is known is not written again: others read it without the lock.
      frame = &frames_.try_emplace({inner, walk.pcs[i]}, Frame{{walk.pcs[i], inner}}).first->second;
      const bool has_next = i + 1 < walk.size && is_at(walk, i) && is_at(walk, i + 1);
      frame->to_next = has_next ? walk.slots[i + 1] - walk.slots[i] : 0;
    }
    if (frame == nullptr) return nullptr;
    frame->is_last = true;
    return &frame->stack;
  }
  static bool is_at(const Walk& walk, std::size_t i) {
    return is_on_stack(walk.slots[i]) && word_at(walk.slots[i]) == walk.pcs[i];
  }

  std::mutex mutex_;
  std::unordered_map<Key, Frame, HashKey> frames_;  // nodes have stable addresses
};

}  // namespace

bool is_in_own_library(std::uint64_t address) noexcept {
  const CodeRange& own = own_library();
  return address - own.begin < own.end - own.begin;
}

std::vector<std::uint64_t> CallStack::pcs() const {
  std::vector<std::uint64_t> pcs;
  for (const CallStack* frame = this; frame != nullptr; frame = frame->inner) pcs.push_back(frame->pc - 1);
  std::reverse(pcs.begin(), pcs.end());
  return pcs;
}

__attribute__((noinline)) const CallStack* call_stack() {
  static auto* const known = new KnownStacks;
  const auto pc = reinterpret_cast<std::uint64_t>(__builtin_return_address(0));
  return known->find(pc, reinterpret_cast<std::uint64_t>(__builtin_frame_address(0)) + kWord);
}

}  // namespace distrun::core
