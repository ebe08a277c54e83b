#include <distrun/runner/crash_error.hpp>

#include <signal.h>

#include <algorithm>
#include <cstdio>

#include <distrun/base/text.hpp>
#include <distrun/evidence/frame_class.hpp>
#include <distrun/evidence/frame_name.hpp>

namespace distrun::runner {
namespace {

constexpr std::size_t kNameMax = 200;
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

bool has_address(const board::Dump& dump) {
  // A signal that somebody sent has a sender's pid where the address would be.
  return dump.code > 0 && (dump.signal == SIGSEGV || dump.signal == SIGBUS);
}

std::string hex(std::uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

// The fault was at the instruction itself: there is no code, and who went there is to be named.
bool is_jump_to_nowhere(const board::Dump& dump, const wire::ThreadStack& thread, const evidence::Stacks& stacks) {
  if (thread.frames.empty() || !has_address(dump)) return false;
  return stacks.table[thread.frames.front()].pc == dump.address;
}

std::string what_happened(const board::Dump& dump, bool jumped) {
  if (!dump.exception_type.empty()) {
    return "uncaught " + dump.exception_type + (dump.exception_text.empty() ? "" : ": " + dump.exception_text);
  }
  if (!has_address(dump)) return "";
  if (jumped && dump.address < kNullPage) return "call of a null pointer";
  if (jumped) return "jump to " + hex(dump.address) + ", where no code is,";
  return dump.address < kNullPage ? "null pointer (address " + hex(dump.address) + ")" : "address " + hex(dump.address);
}

std::string line_of(const wire::StackFrame& frame) {
  std::string text = evidence::frame_name(frame, kNameMax);
  if (!frame.file.empty()) text += " at " + frame.file + ":" + std::to_string(frame.line);
  return text;
}

std::string text_of(const wire::ThreadStack& thread, const evidence::Stacks& stacks) {
  std::string text;
  for (const std::uint32_t index : thread.frames) text += line_of(stacks.table[index]) + "\n";
  return text;
}

}  // namespace

RankError crash_error(int rank, const board::Dump& dump, const evidence::Stacks& stacks) {
  RankError error;
  error.is_crash = true;
  error.type = dump.exception_type.empty() ? base::signal_name(dump.signal) : dump.exception_type;
  const wire::ThreadStack* thread = crashed_thread(rank, stacks);
  if (thread == nullptr) {
    error.text = what_happened(dump, false);
    return error;
  }
  const bool jumped = is_jump_to_nowhere(dump, *thread, stacks);
  error.text = what_happened(dump, jumped);
  error.stack = text_of(*thread, stacks);
  wire::ThreadStack from = *thread;
  if (jumped) from.frames.erase(from.frames.begin());
  if (const wire::StackFrame* frame = evidence::innermost_user_frame(stacks.table, from)) {
    error.text += (error.text.empty() ? "in " : " in ") + evidence::frame_name(*frame, kNameMax);
    error.file = frame->file;
    error.line = frame->line;
  }
  return error;
}

}  // namespace distrun::runner
