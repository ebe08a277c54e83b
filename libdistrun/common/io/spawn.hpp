#pragma once
// Starts a task that nobody waits for in place.
#include <exception>
#include <functional>

#include <distrun/common/io/loop.hpp>
#include <distrun/common/io/task.hpp>

namespace distrun::io {

// Begins soon, on the loop. `on_end` is called there when the task is over, with what it threw, if anything. Loop only.
void spawn(Loop& loop, Task<void> task, std::function<void(std::exception_ptr)> on_end);

}  // namespace distrun::io
