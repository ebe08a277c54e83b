#pragma once
// Formats a stack as the text of an error. Pure.
#include <cstddef>
#include <string>
#include <vector>

#include <distrun/common/wire/stacks.hpp>

namespace distrun::runner {

inline constexpr std::size_t kFunctionNameMax = 200;  // bytes of a frame's name

// Returns a line for each frame, innermost first: "deep at b.cpp:5". All indices of the stack must be in the table.
std::string stack_text(const std::vector<wire::StackFrame>& table, const wire::ThreadStack& stack);

}  // namespace distrun::runner
