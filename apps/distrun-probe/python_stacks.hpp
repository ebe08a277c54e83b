#pragma once
// The Python side of a session: finds the interpreters of its processes, reads the Python frames of threads while they
// are stopped, puts them into their native stacks, and adds waits for a GIL. A process without Python costs a look at
// its mappings.
#include <sys/types.h>

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <distrun/common/wire/stacks.hpp>

#include "code_space.hpp"
#include "frame_table.hpp"
#include "python/interpreter.hpp"
#include "python/threads.hpp"

namespace distrun::probe::python {

class PythonStacks {
 public:
  // Call before the threads of the process are stopped.
  void find(pid_t pid);
  // Reads the stacks of these threads, by process, which are stopped or sleep; those of earlier calls are replaced.
  // Other threads of a process may run and change what is read, so that a line may be wrong. Takes until `end` at most.
  void read(const std::map<pid_t, std::set<pid_t>>& captured, std::chrono::steady_clock::time_point end);

  // Returns the indices of a native frame in the table.
  using AddFrame = std::function<std::vector<std::uint32_t>(const Frame&)>;
  // Sets the frames of the thread: those of `native`, with Python's if they are known.
  void set_frames(FrameTable& table, pid_t pid, const UnwoundStack& native, wire::ThreadStack& thread,
                  const AddFrame& add) const;
  // Adds the asyncio tasks that wait in idle event loops, each as a thread with a negative id.
  void add_tasks(FrameTable& table, wire::ProcessStacks& process) const;
  // Adds to the wait of a thread: for a GIL, if it sleeps on `futex` there, or that it holds one.
  void complete(const wire::ProcessStacks& process, std::uint64_t futex, wire::ThreadStack& thread) const;

 private:
  struct Process {
    Interpreter interpreter;
    Runtime runtime;
    std::unique_ptr<CodeObjects> codes;  // null: why_not
    std::string why_not;                 // why no Python frames are read
    std::map<pid_t, PythonStack> stacks;
    std::map<pid_t, WaitingTasks> tasks;  // by the thread that runs their event loop
    std::vector<Gil> gils;
  };

  static void read(pid_t pid, Process& process, const std::set<pid_t>& tids, std::chrono::steady_clock::time_point end);
  static void open(pid_t pid, Process& process);
  static void wait_for(const Gil& gil, const wire::ProcessStacks& process, wire::ThreadStack& thread);
  const Process* process_of(pid_t pid) const;

  Interpreters interpreters_;
  std::map<pid_t, Process> processes_;
};

}  // namespace distrun::probe::python
