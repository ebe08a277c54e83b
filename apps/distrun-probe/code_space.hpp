#pragma once
// The code that a process has mapped, by which stacks are unwound: one libdwfl session for all processes that have the
// same files at the same addresses. Files are opened when the first frame needs them. Main thread only.
#include <elfutils/libdwfl.h>
#include <sys/types.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "capture.hpp"
#include "mappings.hpp"
#include "memory.hpp"

namespace distrun::probe {

struct Frame {
  std::uint64_t pc = 0;       // an address inside the instruction that runs or calls
  bool signal_frame = false;  // the kernel called a signal handler here
};

struct UnwoundStack {
  std::vector<Frame> inner;  // innermost first
  std::deque<Frame> outer;   // the outermost, of a stack with more frames than `inner` holds
  bool gap = false;          // frames between inner and outer were left out
  bool incomplete = false;   // the outermost frame was not reached
};

// An address of code in the file that holds it.
struct CodePlace {
  Dwfl_Module* module = nullptr;  // null: no file does
  std::uint64_t offset = 0;       // in the addresses of that file; pc itself where there is no file
};

struct EndDwfl {
  void operator()(Dwfl* dwfl) const noexcept { dwfl_end(dwfl); }
};
using DwflPointer = std::unique_ptr<Dwfl, EndDwfl>;

struct Unwinding;

class CodeSpace {
 public:
  // Of the thread's process and of all with equal code signatures. Throws Error{Failed} if it cannot be read.
  explicit CodeSpace(pid_t tid);
  CodeSpace(const CodeSpace&) = delete;
  CodeSpace& operator=(const CodeSpace&) = delete;

  // `mappings` are those of the process now.
  UnwoundStack unwind(pid_t tid, const Capture& capture, const Mappings& mappings);
  CodePlace place_of(std::uint64_t pc) const;
  // A path by which the file of a module can be opened even if it has been removed or replaced (a plugin that was built
  // anew, say). The kernel lets few open it.
  std::string path_of_mapped(Dwfl_Module* module) const;

 private:
  void walk(pid_t tid, Unwinding& unwinding);

  const pid_t tid_;
  DwflPointer dwfl_;
  Unwinding* current_ = nullptr;  // what libdwfl's callbacks look at
};

}  // namespace distrun::probe
