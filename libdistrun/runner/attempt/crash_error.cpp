#include <distrun/runner/attempt/crash_error.hpp>

#include <signal.h>

#include <algorithm>
#include <cstdio>
#include <optional>

#include <distrun/common/base/text.hpp>
#include <distrun/runner/evidence/stacks/frame_class.hpp>
#include <distrun/runner/evidence/stacks/frame_name.hpp>
#include <distrun/runner/record/stack_text.hpp>

namespace distrun::runner {
namespace {

constexpr std::size_t kAddressMax = 200;   // bytes of an address's description
constexpr std::uint64_t kNullPage = 4096;  // covers members of an object at null
// A fault within this distance of the stack pointer is a stack overflow. Memory above the pointer is accessible in an
// intact stack, and no code touches memory further below; a faulting call or local variable is past the end.
constexpr std::uint64_t kFrame = std::uint64_t{64} << 10;

// Returns the thread that crashed; after exit(), the only recorded thread.
const wire::ThreadStack* last_thread(int rank, const board::Dump& dump, const evidence::Stacks& stacks) {
  for (const evidence::Process& process : stacks.processes) {
    if (process.rank != rank) continue;
    for (const wire::ThreadStack& thread : process.threads) {
      if (thread.crashed || dump.signal == 0) return &thread;
    }
  }
  return nullptr;
}

// The CPU rejected an instruction, and the kernel does not know which address it accessed.
bool is_general_protection(const board::Dump& dump) { return dump.signal == SIGSEGV && dump.code == SI_KERNEL; }

bool has_address(const board::Dump& dump) {
  // A signal sent by a process has the sender's pid where the address would be.
  return dump.code > 0 && !is_general_protection(dump) && (dump.signal == SIGSEGV || dump.signal == SIGBUS);
}

bool is_stack_overflow(const board::Dump& dump) {
  if (!has_address(dump) || dump.signal != SIGSEGV || dump.stack_pointer < kFrame) return false;
  return dump.address >= dump.stack_pointer - kFrame && dump.address < dump.stack_pointer + kFrame;
}

std::string hex(std::uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

// Returns whether the thread jumped to where no code is: to the faulting address, or outside all modules. Its caller
// should be named then.
bool is_jump_to_nowhere(const board::Dump& dump, const wire::ThreadStack& thread, const evidence::Stacks& stacks) {
  if (thread.frames.empty() || dump.code <= 0) return false;
  const wire::StackFrame& innermost = stacks.table[thread.frames.front()];
  if (has_address(dump)) return innermost.pc == dump.address;
  return innermost.module.empty() && thread.frames.size() > 1;
}

// `left_to`: the target of a jump to where no code is.
std::string what_happened(const board::Dump& dump, std::optional<std::uint64_t> left_to) {
  if (dump.signal == 0) return "exit() was called";
  if (!dump.exception_type.empty()) {
    return "uncaught " + dump.exception_type + (dump.exception_text.empty() ? "" : ": " + dump.exception_text);
  }
  if (!dump.address_text.empty()) return "host code accessed " + base::one_line(dump.address_text, kAddressMax);
  if (left_to && *left_to < kNullPage) return "call of a null pointer";
  if (left_to) return "jump to " + hex(*left_to) + ", where no code is,";
  if (is_general_protection(dump)) return "general protection fault (a wild or misaligned pointer)";
  if (!has_address(dump)) return "";
  if (is_stack_overflow(dump)) return "stack overflow (address " + hex(dump.address) + ", at the end of its stack)";
  return dump.address < kNullPage ? "null pointer (address " + hex(dump.address) + ")" : "address " + hex(dump.address);
}

std::string type_of(const board::Dump& dump) {
  if (!dump.exception_type.empty()) return dump.exception_type;
  return dump.signal == 0 ? "exit" : base::signal_name(dump.signal);
}

}  // namespace

RankError crash_error(int rank, const board::Dump& dump, const evidence::Stacks& stacks) {
  RankError error;
  error.is_crash = true;
  error.type = type_of(dump);
  const wire::ThreadStack* thread = last_thread(rank, dump, stacks);
  if (thread == nullptr) {
    error.text = what_happened(dump, std::nullopt);
    return error;
  }
  std::optional<std::uint64_t> left_to;
  if (is_jump_to_nowhere(dump, *thread, stacks)) left_to = stacks.table[thread->frames.front()].pc;
  error.text = what_happened(dump, left_to);
  error.stack = stack_text(stacks.table, *thread);
  wire::ThreadStack from = *thread;
  if (left_to) from.frames.erase(from.frames.begin());
  if (const wire::StackFrame* frame = evidence::innermost_user_frame(stacks.table, from)) {
    error.text += (error.text.empty() ? "in " : " in ") + evidence::frame_name(*frame, kFunctionNameMax);
    error.file = frame->file;
    error.line = frame->line;
  }
  return error;
}

}  // namespace distrun::runner
