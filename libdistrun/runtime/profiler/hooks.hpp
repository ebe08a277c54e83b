#pragma once
// Records operators and nodes of backward passes as events: "aten::add", "MulBackward0". The hook costs every operator
// of every thread, so it is installed only while a profile records.

namespace distrun::profiler {

// Reference-counted: call let_go_of_hooks() once for each use_hooks().
void use_hooks();
void let_go_of_hooks() noexcept;

}  // namespace distrun::profiler
