#pragma once
// Whose code a frame is. Who looks for the reason of a hang wants the test's own code; the standard library's frames
// and those of distrun stand around it in every stack.
#include <cstdint>
#include <vector>

#include <distrun/common/wire/stacks.hpp>

namespace distrun::evidence {

enum class FrameClass : std::uint8_t {
  User,       // the test's code, and everything that no rule knows
  Library,    // C and C++ library, dynamic linker, vdso, how the Python interpreter calls itself; with the
              // trampolines of std::function, std::thread and such, and what runs tests of GoogleTest and Catch2
  Machinery,  // of distrun itself: distrun-rank, and the SDK's part of a plugin
};

FrameClass class_of(const wire::StackFrame& frame);

// Null if the stack has none. Every index of the stack must be one of the table's.
const wire::StackFrame* innermost_user_frame(const std::vector<wire::StackFrame>& table,
                                             const wire::ThreadStack& stack);

}  // namespace distrun::evidence
