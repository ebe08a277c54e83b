#pragma once
// A stack as the text of an error. Pure.
#include <cstddef>
#include <string>
#include <vector>

#include <distrun/common/wire/stacks.hpp>

namespace distrun::runner {

inline constexpr std::size_t kFunctionNameMax = 200;  // bytes of what a frame is called

// A line for each frame, innermost first: "deep at b.cpp:5". Every index of the stack must be one of the table's.
std::string stack_text(const std::vector<wire::StackFrame>& table, const wire::ThreadStack& stack);

}  // namespace distrun::runner
