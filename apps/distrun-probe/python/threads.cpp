#include "threads.hpp"

#include <utility>

namespace distrun::probe::python {
namespace {

constexpr std::size_t kInterpretersMax = 64;
constexpr std::size_t kThreadsMax = 4096;  // of an interpreter
// glibc's struct pthread: the kernel's id of the thread.
constexpr Address kPthreadTid = 720;

// struct _gil_runtime_state and its pthread types, the same in all versions.
constexpr Address kGilHolder = 8;  // the thread that holds it, or had it last
constexpr Address kGilLocked = 16;
constexpr Address kGilWaits = 32;  // a condition variable, then a mutex
constexpr Address kGilWaitsEnd = 120;

Address plus(Address base, std::int32_t offset) { return base + static_cast<Address>(offset); }

// A fork updates the C library's note of the id; Python's own may stay that of the parent.
pid_t tid_of(ForeignMemory& memory, const Layout& layout, Address thread, const std::map<pid_t, pid_t>& ids) {
  const Address handle = memory.pointer(plus(thread, layout.thread_handle));
  auto found = ids.find(handle == 0 ? 0 : memory.value<std::int32_t>(handle + kPthreadTid).value_or(0));
  if (found == ids.end() && layout.thread_native >= 0) {
    found = ids.find(static_cast<pid_t>(memory.value<std::uint64_t>(plus(thread, layout.thread_native)).value_or(0)));
  }
  return found == ids.end() ? 0 : found->second;
}

Address frame_of(ForeignMemory& memory, const Layout& layout, Address thread) {
  const Address frame = memory.pointer(plus(thread, layout.thread_frame));
  if (layout.cframe_frame < 0 || frame == 0) return frame;
  return memory.pointer(plus(frame, layout.cframe_frame));
}

// Returns the addresses of their states. Bounded.
std::vector<Address> interpreters_of(ForeignMemory& memory, const Runtime& runtime) {
  std::vector<Address> found;
  Address interpreter = memory.pointer(plus(runtime.runtime, runtime.layout->runtime_interpreters));
  while (interpreter != 0 && found.size() < kInterpretersMax) {
    found.push_back(interpreter);
    interpreter = memory.pointer(plus(interpreter, runtime.layout->interpreter_next));
  }
  return found;
}

class Reader {
 public:
  Reader(ForeignMemory& memory, const Runtime& runtime, CodeObjects& codes, const std::map<pid_t, pid_t>& ids,
         const std::set<pid_t>& wanted)
      : memory_(memory), runtime_(runtime), layout_(*runtime.layout), codes_(codes), ids_(ids), wanted_(wanted) {}

  PythonThreads read() {
    std::set<Address> gils;  // interpreters may share one
    for (const Address interpreter : interpreters_of(memory_, runtime_)) {
      read_threads(interpreter);
      if (layout_.interpreter_gil >= 0) gils.insert(memory_.pointer(plus(interpreter, layout_.interpreter_gil)));
    }
    if (layout_.runtime_gil >= 0) gils.insert(plus(runtime_.runtime, layout_.runtime_gil));
    for (const Address gil : gils) add_gil(gil);
    // Last: the time for it all is limited, and stacks count most.
    for (std::size_t i = 0; i < found_.list.size(); ++i) {
      PythonThread& thread = found_.list[i];
      thread.tasks = read_waiting_tasks(memory_, layout_, codes_, interpreters_[i], thread.stack);
    }
    return std::move(found_);
  }

 private:
  void read_threads(Address interpreter) {
    Address thread = memory_.pointer(plus(interpreter, layout_.interpreter_threads));
    for (std::size_t i = 0; thread != 0 && i < kThreadsMax; ++i) {
      if (memory_.pointer(thread + kThreadInterpreter) != interpreter) {
        found_.is_sound = false;
        return;
      }
      if (!add_thread(interpreter, thread)) return;  // a circle
      thread = memory_.pointer(thread + kThreadNext);
    }
  }

  // Returns false if the thread was read before.
  bool add_thread(Address interpreter, Address thread) {
    const pid_t tid = tid_of(memory_, layout_, thread, ids_);
    if (!tids_.try_emplace(thread, tid).second) return false;
    // A thread that has just ended has the id 0.
    const Address frame = wanted_.contains(tid) && read_.insert(tid).second ? frame_of(memory_, layout_, thread) : 0;
    if (frame == 0) return true;
    found_.list.push_back({tid, read_frames(memory_, layout_, codes_, frame), {}});
    interpreters_.push_back(interpreter);
    return true;
  }

  void add_gil(Address gil) {
    const auto locked = memory_.value<std::int32_t>(gil + kGilLocked);
    if (gil == 0 || !locked) return;
    const auto holder = tids_.find(*locked == 1 ? memory_.pointer(gil + kGilHolder) : 0);
    found_.gils.push_back({gil + kGilWaits, gil + kGilWaitsEnd, holder == tids_.end() ? 0 : holder->second});
  }

  ForeignMemory& memory_;
  const Runtime& runtime_;
  const Layout& layout_;
  CodeObjects& codes_;
  const std::map<pid_t, pid_t>& ids_;
  const std::set<pid_t>& wanted_;
  std::map<Address, pid_t> tids_;      // by the interpreter's thread
  std::set<pid_t> read_;               // each is read once
  std::vector<Address> interpreters_;  // of the threads in found_.list
  PythonThreads found_;
};

}  // namespace

PythonThreads read_threads(ForeignMemory& memory, const Runtime& runtime, CodeObjects& codes,
                           const std::map<pid_t, pid_t>& ids, const std::set<pid_t>& wanted) {
  return Reader(memory, runtime, codes, ids, wanted).read();
}

}  // namespace distrun::probe::python
