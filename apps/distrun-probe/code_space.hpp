#pragma once
// The code mapped by a process, for unwinding stacks: one libdwfl session for all processes that have the same files at
// the same addresses. Files are opened when the first frame needs them. One thread at a time.
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
  std::deque<Frame> outer;   // the outermost frames, if there are more than `inner` holds
  bool gap = false;          // frames between inner and outer were omitted
  bool incomplete = false;   // the outermost frame was not reached
};

// The file and offset of a code address.
struct CodePlace {
  Dwfl_Module* module = nullptr;  // null: no file holds it
  std::uint64_t offset = 0;       // in the file's addresses; pc itself without a file
};

struct EndDwfl {
  void operator()(Dwfl* dwfl) const noexcept { dwfl_end(dwfl); }
};
using DwflPointer = std::unique_ptr<Dwfl, EndDwfl>;

struct Unwinding;

class CodeSpace {
 public:
  // Serves the thread's process and all with equal code signatures. Throws Error{Failed} if it cannot be read.
  explicit CodeSpace(pid_t tid);
  CodeSpace(const CodeSpace&) = delete;
  CodeSpace& operator=(const CodeSpace&) = delete;

  // `mappings` are the current ones of the process.
  UnwoundStack unwind(pid_t tid, const Capture& capture, const Mappings& mappings);
  CodePlace place_of(std::uint64_t pc) const;
  // Returns a path to the file of a module that works even if the file has been removed or replaced (such as a rebuilt
  // plugin). Requires privileges.
  std::string path_of_mapped(Dwfl_Module* module) const;

 private:
  void walk(pid_t tid, Unwinding& unwinding);

  const pid_t tid_;
  DwflPointer dwfl_;
  Unwinding* current_ = nullptr;  // used by libdwfl's callbacks
};

}  // namespace distrun::probe
