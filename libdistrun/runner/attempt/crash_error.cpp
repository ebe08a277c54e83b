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

constexpr std::size_t kAddressMax = 200;   // bytes of what an address is
constexpr std::uint64_t kNullPage = 4096;  // a member of an object at null is near it

const wire::ThreadStack* crashed_thread(int rank, const evidence::Stacks& stacks) {
  for (const evidence::Process& process : stacks.processes) {
    if (process.rank != rank) continue;
    for (const wire::ThreadStack& thread : process.threads) {
      if (thread.crashed) return &thread;
    }
  }
  return nullptr;
}

// The processor has refused what an instruction wanted, and the kernel does not know which address it was.
bool is_general_protection(const board::Dump& dump) { return dump.signal == SIGSEGV && dump.code == SI_KERNEL; }

bool has_address(const board::Dump& dump) {
  // A signal that somebody sent has a sender's pid where the address would be.
  return dump.code > 0 && !is_general_protection(dump) && (dump.signal == SIGSEGV || dump.signal == SIGBUS);
}

std::string hex(std::uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

// The fault was at the instruction itself, or in what happens to be where no code is: who went there is to be named.
bool is_jump_to_nowhere(const board::Dump& dump, const wire::ThreadStack& thread, const evidence::Stacks& stacks) {
  if (thread.frames.empty() || dump.code <= 0) return false;
  const wire::StackFrame& innermost = stacks.table[thread.frames.front()];
  if (has_address(dump)) return innermost.pc == dump.address;
  return innermost.module.empty() && thread.frames.size() > 1;
}

// `left_to`: where the instruction is that a jump to nowhere has led to.
std::string what_happened(const board::Dump& dump, std::optional<std::uint64_t> left_to) {
  if (!dump.exception_type.empty()) {
    return "uncaught " + dump.exception_type + (dump.exception_text.empty() ? "" : ": " + dump.exception_text);
  }
  if (!dump.address_text.empty()) return "host code touched " + base::one_line(dump.address_text, kAddressMax);
  if (left_to && *left_to < kNullPage) return "call of a null pointer";
  if (left_to) return "jump to " + hex(*left_to) + ", where no code is,";
  if (is_general_protection(dump)) return "general protection fault (a wild or misaligned pointer)";
  if (!has_address(dump)) return "";
  return dump.address < kNullPage ? "null pointer (address " + hex(dump.address) + ")" : "address " + hex(dump.address);
}

}  // namespace

RankError crash_error(int rank, const board::Dump& dump, const evidence::Stacks& stacks) {
  RankError error;
  error.is_crash = true;
  error.type = dump.exception_type.empty() ? base::signal_name(dump.signal) : dump.exception_type;
  const wire::ThreadStack* thread = crashed_thread(rank, stacks);
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
