#include "python_stacks.hpp"

#include <algorithm>
#include <utility>

#include <distrun/common/base/text.hpp>
#include <distrun/runner/evidence/proc/proc_files.hpp>
#include <distrun/runner/evidence/proc/task_state.hpp>

#include "process_memory.hpp"
#include "python/mix.hpp"
#include "stack_cap.hpp"

namespace distrun::probe::python {
namespace {

constexpr const char* kUnsound =
    "its memory does not look as that of a usual build of this version: Python lines are not read";

// Returns the id that a thread has for its own process, which in a container differs from ours.
pid_t own_id_of(pid_t pid, pid_t tid) {
  const std::string path = evidence::proc_path(pid, "task/" + std::to_string(tid) + "/status");
  const std::string status = evidence::read_proc_file(path).text;
  pid_t own = tid;
  evidence::for_each_line(status, [&](std::string_view line) {
    if (!line.starts_with("NSpid:")) return;
    evidence::Words words(line.substr(6));
    for (std::string_view word = words.next(); !word.empty(); word = words.next()) {
      own = evidence::number_in<pid_t>(word, 10).value_or(own);
    }
  });
  return own;
}

std::map<pid_t, pid_t> ids_of(pid_t pid) {
  const bool has_other_ids = evidence::has_other_ids(pid);
  std::map<pid_t, pid_t> ids;
  for (const pid_t tid : evidence::Tasks(pid).ids()) ids.emplace(has_other_ids ? own_id_of(pid, tid) : tid, tid);
  return ids;
}

bool is_in(Address address, Address begin, Address size) { return address >= begin && address - begin < size; }

NativeKind kind_of(const Interpreter& interpreter, const Frame& frame) {
  const InterpreterSymbols& symbols = interpreter.symbols;
  if (symbols.loop != 0 && is_in(frame.pc, symbols.loop, symbols.loop_size)) return NativeKind::Loop;
  const InterpreterFile& file = interpreter.file;
  return is_in(frame.pc, file.begin, file.end - file.begin) ? NativeKind::Interpreter : NativeKind::Other;
}

std::uint32_t add_frame(FrameTable& table, const PythonFrame& frame) {
  if (!frame.code) return table.add_script("?", "", 0);
  return table.add_script(base::valid_utf8(frame.code->function), base::valid_utf8(frame.code->file), frame.line);
}

StackShape<NativeKind> shape_of(const Interpreter& interpreter, const UnwoundStack& native) {
  StackShape<NativeKind> shape{{}, {}, native.gap, native.incomplete};
  for (const Frame& frame : native.inner) shape.inner.push_back(kind_of(interpreter, frame));
  for (const Frame& frame : native.outer) shape.outer.push_back(kind_of(interpreter, frame));
  return shape;
}

StackShape<bool> shape_of(const PythonStack& python) {
  StackShape<bool> shape{{}, {}, python.gap, python.incomplete};
  for (const PythonFrame& frame : python.inner) shape.inner.push_back(frame.is_entry);
  for (const PythonFrame& frame : python.outer) shape.outer.push_back(frame.is_entry);
  return shape;
}

// The result if no Python frame is known.
StackShape<MixedFrame> unmixed(const UnwoundStack& native) {
  StackShape<MixedFrame> shape{{}, {}, native.gap, native.incomplete};
  for (std::size_t i = 0; i < native.inner.size(); ++i) shape.inner.push_back({false, i});
  for (std::size_t i = 0; i < native.outer.size(); ++i) shape.outer.push_back({false, native.inner.size() + i});
  return shape;
}

const PythonFrame& frame_at(const PythonStack& stack, std::size_t index) {
  return index < stack.inner.size() ? stack.inner[index] : stack.outer[index - stack.inner.size()];
}

const Frame& frame_at(const UnwoundStack& stack, std::size_t index) {
  return index < stack.inner.size() ? stack.inner[index] : stack.outer[index - stack.inner.size()];
}

wire::ThreadStack task_thread(pid_t id, std::string name) {
  wire::ThreadStack thread;
  thread.task.tid = id;
  thread.task.name = std::move(name);
  thread.task.state = 'S';
  return thread;
}

}  // namespace

void PythonStacks::find(pid_t pid) {
  if (pid <= 0 || processes_.contains(pid)) return;
  auto found = interpreters_.find(pid);
  if (!found) return;
  Process& process = processes_[pid];
  process.interpreter = std::move(*found);
  open(pid, process);
}

void PythonStacks::open(pid_t pid, Process& process) {
  const InterpreterSymbols& symbols = process.interpreter.symbols;
  Version version = process.interpreter.version;
  ProcessMemory memory(pid, std::chrono::steady_clock::now() + std::chrono::seconds(1));
  if (symbols.version != 0) {
    const auto number = memory.value<std::uint32_t>(symbols.version).value_or(0);  // 0x030b02f0: 3.11.2
    if (number != 0) version.major = static_cast<int>(number >> 24U);
    if (number != 0) version.minor = static_cast<int>((number >> 16U) & 0xffU);
  }
  process.why_not = why_not(version);
  if (process.why_not.empty() && symbols.runtime == 0) process.why_not = "the state of this Python was not found";
  if (!process.why_not.empty()) return;
  process.runtime = {find_layout(version), symbols.runtime, symbols.code_type};
  process.codes = std::make_unique<CodeObjects>(*process.runtime.layout, symbols.code_type);
}

void PythonStacks::read(const std::map<pid_t, std::set<pid_t>>& captured, std::chrono::steady_clock::time_point end) {
  for (const auto& [pid, tids] : captured) {
    const auto found = processes_.find(pid);
    if (found != processes_.end() && found->second.codes) read(pid, found->second, tids, end);
  }
}

void PythonStacks::read(pid_t pid, Process& process, const std::set<pid_t>& tids,
                        std::chrono::steady_clock::time_point end) {
  for (const pid_t tid : tids) {
    process.stacks.erase(tid);
    process.tasks.erase(tid);
  }
  ProcessMemory memory(*tids.begin(), end);
  PythonThreads threads = read_threads(memory, process.runtime, *process.codes, ids_of(pid), tids);
  if (!threads.is_sound && threads.list.empty()) process.why_not = kUnsound;
  process.gils = std::move(threads.gils);
  for (PythonThread& thread : threads.list) {
    process.stacks.insert_or_assign(thread.tid, std::move(thread.stack));
    if (!thread.tasks.list.empty()) process.tasks.insert_or_assign(thread.tid, std::move(thread.tasks));
  }
}

const PythonStacks::Process* PythonStacks::process_of(pid_t pid) const {
  const auto found = processes_.find(pid);
  return found == processes_.end() ? nullptr : &found->second;
}

void PythonStacks::set_frames(FrameTable& table, pid_t pid, const UnwoundStack& native, wire::ThreadStack& thread,
                              const AddFrame& add) const {
  const Process* const process = process_of(pid);
  const PythonStack* python = nullptr;
  if (process != nullptr) {
    const auto stack = process->stacks.find(thread.task.tid);
    if (stack != process->stacks.end()) python = &stack->second;
  }
  const StackShape<MixedFrame> mixed =
      python != nullptr ? mix(shape_of(process->interpreter, native), shape_of(*python)) : unmixed(native);
  // Said once, inside the innermost frame of the interpreter.
  bool says_why_not = process != nullptr && python == nullptr && !process->why_not.empty();
  const auto indices_of = [&](const std::vector<MixedFrame>& frames) {
    std::vector<std::uint32_t> indices;
    for (const MixedFrame& each : frames) {
      if (each.is_python) {
        indices.push_back(add_frame(table, frame_at(*python, each.index)));
        continue;
      }
      const Frame& frame = frame_at(native, each.index);
      if (says_why_not && kind_of(process->interpreter, frame) != NativeKind::Other) {
        indices.push_back(table.add_script(process->why_not, "", 0));
        says_why_not = false;
      }
      const std::vector<std::uint32_t> added = add(frame);
      indices.insert(indices.end(), added.begin(), added.end());
    }
    return indices;
  };
  thread.incomplete = native.incomplete && (python == nullptr || python->incomplete);
  std::vector<std::uint32_t> inner = indices_of(mixed.inner);
  probe::set_frames(thread, std::move(inner), indices_of(mixed.outer), mixed.gap);
}

void PythonStacks::add_tasks(FrameTable& table, wire::ProcessStacks& process) const {
  const Process* const known = process_of(process.pid);
  if (known == nullptr) return;
  pid_t id = 0;  // unlike that of any thread
  for (const auto& [tid, tasks] : known->tasks) {
    for (const WaitingTask& task : tasks.list) {
      process.threads.push_back(task_thread(--id, base::valid_utf8(task.name)));
      for (const PythonFrame& frame : task.frames) process.threads.back().frames.push_back(add_frame(table, frame));
    }
    if (tasks.more == 0) continue;
    process.threads.push_back(task_thread(--id, ""));
    process.threads.back().why_none = std::to_string(tasks.more) + " further asyncio tasks that wait are not shown";
  }
}

void PythonStacks::complete(const wire::ProcessStacks& process, std::uint64_t futex, wire::ThreadStack& thread) const {
  const Process* const known = process_of(process.pid);
  if (known == nullptr) return;
  for (const Gil& gil : known->gils) {
    if (gil.holder == thread.task.tid) {
      thread.wait.note += (thread.wait.note.empty() ? "" : ", ") + std::string(wire::kHoldsGil);
    } else if (is_in(futex, gil.begin, gil.end - gil.begin)) {
      wait_for(gil, process, thread);
    }
  }
}

// The wait has a limit of some milliseconds, after which the thread asks the holder to release the GIL, and waits
// again.
void PythonStacks::wait_for(const Gil& gil, const wire::ProcessStacks& process, wire::ThreadStack& thread) {
  const auto holder = std::find_if(process.threads.begin(), process.threads.end(),
                                   [&](const wire::ThreadStack& each) { return each.task.tid == gil.holder; });
  thread.waits_for.clear();
  wire::ObservedWait& wait = thread.wait;
  wait.object = wire::WaitObject::Mutex;
  wait.name = "the GIL";
  wait.key = std::to_string(process.pid) + " GIL " + std::to_string(gil.begin);
  wait.enders.clear();
  wait.limit.clear();
  wait.note.clear();
  wait.closed = holder != process.threads.end();
  if (!wait.closed) return;
  const std::string id = std::to_string(gil.holder);
  wait.enders.push_back({process.pid, gil.holder, "thread " + id + " (" + holder->task.name + ")"});
}

}  // namespace distrun::probe::python
