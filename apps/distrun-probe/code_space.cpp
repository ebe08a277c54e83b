#include "code_space.hpp"

#include <optional>
#include <string>

#include <distrun/common/base/error.hpp>
#include <distrun/common/wire/stacks.hpp>
#include <distrun/runner/evidence/proc/mapping_line.hpp>

#include "debug_files.hpp"

namespace distrun::probe {

// Bounds the time for an endless recursion on an endless stack.
constexpr std::size_t kFramesMax = 500'000;

// The unwinding of one stack, used by libdwfl's callbacks.
struct Unwinding {
  Memory memory;
  const Registers registers;  // of the frame to begin with
  const Mappings& mappings;
  UnwoundStack stack{};
  std::size_t frames = 0;  // reported by libdwfl
  bool left_code = false;  // the last address was not code
  bool after_signal_frame = false;

  static Unwinding& of(void* code_space_current) { return **static_cast<Unwinding**>(code_space_current); }
  // Returns whether the running function is already recorded, and `registers` are those of its caller.
  bool begins_with_caller() const { return frames == 0 && !stack.inner.empty(); }
  int add(Dwfl_Frame* state);
  void keep(Frame frame);
};

void Unwinding::keep(Frame frame) {
  if (stack.inner.size() < wire::kInnerFrames) {
    stack.inner.push_back(frame);
    return;
  }
  stack.outer.push_back(frame);
  if (stack.outer.size() <= wire::kOuterFrames) return;
  stack.outer.pop_front();
  stack.gap = true;
}

// An "activation" has not called another function: it is running, or was interrupted by a signal. libdwfl also reports
// the frame that a signal handler returns to as one, and the frame that it interrupted.
int Unwinding::add(Dwfl_Frame* state) {
  Dwarf_Addr pc = 0;
  bool activation = false;
  if (!dwfl_frame_pc(state, &pc, &activation)) return DWARF_CB_ABORT;
  const bool innermost = stack.inner.empty();
  if (begins_with_caller()) activation = false;
  if (!innermost && !mappings.is_code(pc)) {
    left_code = pc != 0 || after_signal_frame;  // some threads mark the outermost frame by a return address of 0
    return DWARF_CB_ABORT;
  }
  const bool signal_frame = activation && !innermost && !after_signal_frame;
  after_signal_frame = signal_frame;
  keep({activation ? pc : pc - 1, signal_frame});
  return ++frames < kFramesMax ? DWARF_CB_OK : DWARF_CB_ABORT;
}

namespace {

// The only "thread" that libdwfl asks for is the current unwinding.
pid_t next_thread(Dwfl*, void*, void**) { return 0; }
bool get_thread(Dwfl*, pid_t, void* current, void** thread) {
  *thread = current;
  return true;
}
bool read_word(Dwfl*, Dwarf_Addr address, Dwarf_Word* result, void* current) {
  return Unwinding::of(current).memory.read_word(address, *result);
}
bool set_registers(Dwfl_Thread* thread, void* current) { return Unwinding::of(current).registers.give_to(thread); }

const Dwfl_Thread_Callbacks kThreads{next_thread, get_thread, read_word, set_registers, nullptr, nullptr};

int add_frame(Dwfl_Frame* state, void* unwinding) { return static_cast<Unwinding*>(unwinding)->add(state); }

[[noreturn]] void throw_dwfl(const std::string& what) { throw Error(ErrorKind::Failed, what + ": " + dwfl_errmsg(-1)); }

// Returns the registers after the running function returns, assuming that it has not changed the stack.
std::optional<Registers> caller_of_leaf(const Registers& registers, const Mappings& mappings, Memory memory) {
  std::uint64_t caller = 0;
  if (!memory.read_word(registers.sp(), caller) || !mappings.is_code(caller)) return std::nullopt;
  Registers result = registers;
  result.return_to(caller);
  return result;
}

}  // namespace

CodeSpace::CodeSpace(pid_t tid) : tid_(tid), dwfl_(dwfl_begin(&kProcessFiles)) {
  if (!dwfl_) throw_dwfl("cannot start to unwind");
  dwfl_report_begin(dwfl_.get());
  const int error = dwfl_linux_proc_report(dwfl_.get(), tid);
  if (error > 0) base::throw_errno("cannot read the mappings of thread " + std::to_string(tid), error);
  if (error < 0 || dwfl_report_end(dwfl_.get(), nullptr, nullptr) != 0 ||
      !dwfl_attach_state(dwfl_.get(), nullptr, tid, &kThreads, &current_)) {
    throw_dwfl("cannot read the code of thread " + std::to_string(tid));
  }
}

UnwoundStack CodeSpace::unwind(pid_t tid, const Capture& capture, const Mappings& mappings) {
  const Registers& registers = capture.registers;
  Unwinding unwinding{Memory(tid, capture.stack), registers, mappings};
  // After a call through an invalid pointer, only the return address is known.
  if (mappings.is_code(registers.pc())) walk(tid, unwinding);
  if (unwinding.stack.inner.size() > 1) return std::move(unwinding.stack);

  // In libc, code around some system calls (clone3) has no frame either.
  const std::optional<Registers> caller = caller_of_leaf(registers, mappings, unwinding.memory);
  if (!caller || (!unwinding.stack.inner.empty() && !unwinding.stack.incomplete)) {
    if (unwinding.stack.inner.empty()) unwinding.keep({registers.pc(), false});
    return std::move(unwinding.stack);
  }
  Unwinding from_caller{Memory(tid, capture.stack), *caller, mappings};
  from_caller.keep({registers.pc(), false});
  walk(tid, from_caller);
  return std::move(from_caller.stack);
}

void CodeSpace::walk(pid_t tid, Unwinding& unwinding) {
  current_ = &unwinding;
  const int ended = dwfl_getthread_frames(dwfl_.get(), tid, add_frame, &unwinding);
  current_ = nullptr;
  // Both an error (-1) and our own stop mean that more frames should follow.
  unwinding.stack.incomplete = unwinding.left_code || ended == -1 || unwinding.frames == kFramesMax;
}

CodePlace CodeSpace::place_of(std::uint64_t pc) const {
  Dwfl_Module* module = dwfl_addrmodule(dwfl_.get(), pc);
  GElf_Addr bias = 0;
  if (module == nullptr || dwfl_module_getelf(module, &bias) == nullptr) return {nullptr, pc};
  return {module, pc - bias};
}

std::string CodeSpace::path_of_mapped(Dwfl_Module* module) const {
  Dwarf_Addr begin = 0;
  dwfl_module_info(module, nullptr, &begin, nullptr, nullptr, nullptr, nullptr, nullptr);
  const Mappings mappings = Mappings::of(tid_);
  const Mapping* mapping = mappings.find(begin);
  if (mapping == nullptr) return "";
  return evidence::mapped_file(tid_, mapping->begin, mapping->end);
}

}  // namespace distrun::probe
