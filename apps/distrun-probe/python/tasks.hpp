#pragma once
// The asyncio tasks that wait in an idle event loop. They are in no thread's stack: the thread only shows that its loop
// waits for events. If the stack of a thread shows no idle loop, nothing is read.
#include <string>
#include <vector>

#include "foreign_memory.hpp"
#include "frames.hpp"
#include "layout.hpp"

namespace distrun::probe::python {

struct WaitingTask {
  std::string name;                 // "Task-3"
  std::vector<PythonFrame> frames;  // of the coroutines that await each other, innermost first
};

struct WaitingTasks {
  std::vector<WaitingTask> list;
  std::size_t more = 0;  // tasks that wait, too, and were not read
};

// Reads the tasks that are suspended in the event loop that the thread with this stack runs, if it is idle there.
// Bounded for any content of the memory.
WaitingTasks read_waiting_tasks(ForeignMemory& memory, const Layout& layout, CodeObjects& codes, Address interpreter,
                                const PythonStack& stack);

}  // namespace distrun::probe::python
