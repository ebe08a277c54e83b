#include <distrun/runner/record/stack_text.hpp>

#include <distrun/runner/evidence/stacks/frame_name.hpp>

namespace distrun::runner {

std::string stack_text(const std::vector<wire::StackFrame>& table, const wire::ThreadStack& stack) {
  std::string text;
  for (const std::uint32_t index : stack.frames) {
    const wire::StackFrame& frame = table[index];
    text += evidence::frame_name(frame, kFunctionNameMax);
    if (!frame.file.empty()) text += " at " + frame.file + ":" + std::to_string(frame.line);
    text += "\n";
  }
  return text;
}

}  // namespace distrun::runner
