#pragma once
// The Python frames of a thread, from its innermost one.
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "code_object.hpp"
#include "foreign_memory.hpp"
#include "layout.hpp"

namespace distrun::probe::python {

struct PythonFrame {
  std::shared_ptr<const Code> code;  // null: the frame could not be read
  std::uint32_t line = 0;
  Address address = 0;
  // True: the interpreter's loop, a native frame, was called for this frame. For other frames it goes on with the
  // frame that they were called by.
  bool is_entry = false;
};

struct PythonStack {
  std::vector<PythonFrame> inner;  // innermost first
  std::deque<PythonFrame> outer;   // the outermost frames, if there are more than `inner` holds
  bool gap = false;                // frames between inner and outer were omitted
  bool incomplete = false;         // the outermost frame was not reached
};

// Reads the frames from the innermost one at `frame`. Bounded for any content of the memory: frames in a circle end at
// the limit of frames, and only those that are kept have their code read.
PythonStack read_frames(ForeignMemory& memory, const Layout& layout, CodeObjects& codes, Address frame);

// Reads one frame, without those that it was called by.
PythonFrame read_frame_at(ForeignMemory& memory, const Layout& layout, CodeObjects& codes, Address frame);

}  // namespace distrun::probe::python
