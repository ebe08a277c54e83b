#pragma once
// The threads of an interpreter, and its GIL.
#include <sys/types.h>

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "foreign_memory.hpp"
#include "frames.hpp"
#include "layout.hpp"
#include "tasks.hpp"

namespace distrun::probe::python {

// Where an interpreter keeps its state in a process.
struct Runtime {
  const Layout* layout = nullptr;
  Address runtime = 0;    // _PyRuntime
  Address code_type = 0;  // PyCode_Type; 0: not known
};

struct Gil {
  Address begin = 0;  // the memory of its condition variable and mutex: a thread that waits there waits for the GIL
  Address end = 0;
  pid_t holder = 0;  // 0: no thread holds it, or it is not known which
};

struct PythonThread {
  pid_t tid = 0;
  PythonStack stack;
  WaitingTasks tasks;  // of its event loop, if it is idle in one
};

struct PythonThreads {
  std::vector<PythonThread> list;  // those asked for that have Python frames
  std::vector<Gil> gils;           // one for all interpreters of the process, or one each
  bool is_sound = true;            // false: what was read is no list of threads
};

// Reads the stacks of the threads in `wanted`. `ids` are all threads of the process: by the id that the process itself
// has for each, which in a container differs.
PythonThreads read_threads(ForeignMemory& memory, const Runtime& runtime, CodeObjects& codes,
                           const std::map<pid_t, pid_t>& ids, const std::set<pid_t>& wanted);

}  // namespace distrun::probe::python
