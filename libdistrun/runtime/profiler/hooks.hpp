#pragma once
// Operators and nodes of backward passes as events: "aten::add", "MulBackward0". What tells of them costs every
// operator of every thread, so it is there only while somebody records.

namespace distrun::profiler {

// So often as it was used, it is let go of.
void use_hooks();
void let_go_of_hooks() noexcept;

}  // namespace distrun::profiler
