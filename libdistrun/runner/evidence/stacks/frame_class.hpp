#pragma once
// Classifies the code of a frame. To explain a hang one needs the test's own code, which in every stack is surrounded
// by frames of the standard library and of distrun.
#include <cstdint>
#include <vector>

#include <distrun/common/wire/stacks.hpp>

namespace distrun::evidence {

enum class FrameClass : std::uint8_t {
  User,       // the test's code, and everything that no rule matches
  Library,    // C and C++ library, dynamic linker, vdso, the Python interpreter, its library and installed packages,
              // trampolines of std::function, std::thread and such, and the runners of GoogleTest and Catch2
  Machinery,  // distrun itself: distrun-rank, and the SDK's part of a plugin
};

FrameClass class_of(const wire::StackFrame& frame);

// Returns null if there is no such frame. Every index of the stack must be valid in the table.
const wire::StackFrame* innermost_user_frame(const std::vector<wire::StackFrame>& table,
                                             const wire::ThreadStack& stack);

}  // namespace distrun::evidence
