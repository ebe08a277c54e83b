#pragma once
// Starts a task in the background.
#include <exception>
#include <functional>

#include <distrun/common/io/loop.hpp>
#include <distrun/common/io/task.hpp>

namespace distrun::io {

// The task begins soon, on the loop. When it is over, `on_end` is called there with its exception, if any. Loop only.
void spawn(Loop& loop, Task<void> task, std::function<void(std::exception_ptr)> on_end);

}  // namespace distrun::io
