#include "tasks.hpp"

#include <algorithm>

#include "objects.hpp"

namespace distrun::probe::python {
namespace {

constexpr std::size_t kTasksMax = 64;
constexpr std::size_t kAwaitsMax = 64;  // coroutines that await each other
constexpr std::size_t kNameMax = 100;
constexpr std::int32_t kValuesMax = 4096;  // of a frame

// Offsets of CPython 3.11.
constexpr Address kModuleDict = 16;
constexpr Address kReferent = 16;  // of a weak reference
constexpr Address kTaskLoop = 16;
constexpr Address kTaskState = 88;    // 0: pending
constexpr Address kTaskWaiter = 128;  // the future that it waits for; null: it is about to run
constexpr Address kTaskCoroutine = 136;
constexpr Address kTaskName = 144;
constexpr Address kCoroutineFrame = 80;
constexpr Address kCoroutineState = 75;
constexpr std::int8_t kSuspended = -1;
constexpr Address kFrameTop = 64;  // the number of its values; what it awaits is the last one

bool is_function(const PythonFrame& frame, std::string_view name, std::string_view file) {
  return frame.code && frame.code->function.ends_with(name) && frame.code->file.ends_with(file);
}

// Returns the event loop that waits for events, innermost in this stack; 0: none does.
Address idle_loop(ForeignMemory& memory, const Layout& layout, const PythonStack& stack) {
  if (stack.inner.empty() || !is_function(stack.inner.front(), ".select", "selectors.py")) return 0;
  const auto run = std::find_if(stack.inner.begin(), stack.inner.end(), [](const PythonFrame& frame) {
    return is_function(frame, ".run_forever", "asyncio/base_events.py");
  });
  // The first of its values is `self`.
  return run == stack.inner.end() ? 0 : memory.pointer(run->address + static_cast<Address>(layout.frame_head));
}

std::vector<PythonFrame> read_awaits(ForeignMemory& memory, const Layout& layout, CodeObjects& codes,
                                     Address coroutine) {
  std::vector<PythonFrame> frames;
  while (frames.size() < kAwaitsMax && is_of_type(memory, coroutine, "coroutine")) {
    if (memory.value<std::int8_t>(coroutine + kCoroutineState) != kSuspended) break;
    const Address frame = coroutine + kCoroutineFrame;
    frames.push_back(read_frame_at(memory, layout, codes, frame));
    const std::int32_t top = memory.value<std::int32_t>(frame + kFrameTop).value_or(0);
    if (top <= 0 || top > kValuesMax) break;
    coroutine = memory.pointer(frame + static_cast<Address>(layout.frame_head) + 8 * static_cast<Address>(top - 1));
  }
  std::reverse(frames.begin(), frames.end());
  return frames;
}

bool is_waiting(ForeignMemory& memory, Address task, Address loop) {
  return is_of_type(memory, task, "_asyncio.Task") && memory.pointer(task + kTaskLoop) == loop &&
         memory.value<std::int32_t>(task + kTaskState) == 0 && memory.pointer(task + kTaskWaiter) != 0;
}

}  // namespace

WaitingTasks read_waiting_tasks(ForeignMemory& memory, const Layout& layout, CodeObjects& codes, Address interpreter,
                                const PythonStack& stack) {
  WaitingTasks tasks;
  const Address loop = layout.interpreter_modules < 0 ? 0 : idle_loop(memory, layout, stack);
  if (loop == 0) return tasks;
  const Address modules = memory.pointer(interpreter + static_cast<Address>(layout.interpreter_modules));
  const Address module = dict_value(memory, layout, modules, "asyncio.tasks");
  if (!is_of_type(memory, module, "module")) return tasks;
  const Address all = dict_value(memory, layout, memory.pointer(module + kModuleDict), "_all_tasks");
  for (const Address reference : set_members(memory, weak_set_data(memory, layout, all))) {
    const Address task = memory.pointer(reference + kReferent);
    if (!is_waiting(memory, task, loop)) continue;
    if (tasks.list.size() >= kTasksMax) {
      ++tasks.more;
      continue;
    }
    tasks.list.push_back({read_text(memory, layout, memory.pointer(task + kTaskName), kNameMax),
                          read_awaits(memory, layout, codes, memory.pointer(task + kTaskCoroutine))});
  }
  std::sort(tasks.list.begin(), tasks.list.end(),
            [](const WaitingTask& a, const WaitingTask& b) { return a.name < b.name; });
  return tasks;
}

}  // namespace distrun::probe::python
