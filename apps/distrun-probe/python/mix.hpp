#pragma once
// Puts the Python frames of a thread into its native stack. Pure; thread-safe.
//
// The interpreter's loop is a native function; each of its frames stands for one or more Python frames. They take its
// place. The other frames of the interpreter between them, and outside the outermost, only connect Python functions and
// are left out; those inside the innermost (a sleep, a wait for a lock) stay, as do all frames of other files:
// libraries that Python calls, and that call Python.
//
// A thread that is about to enter or leave a function may have one frame of the loop more or less than Python says. So
// the stacks are aligned at their outermost frames, if both have them. What has no counterpart is left out, if it is
// native, or stands as far inside as possible, if it is Python's.
#include <cstddef>
#include <cstdint>
#include <vector>

namespace distrun::probe::python {

enum class NativeKind : std::uint8_t {
  Other,
  Interpreter,  // code in the interpreter's file
  Loop,         // its loop
};

// A stack with the innermost frame first: of kinds of native frames, or, of Python frames, whether the loop was called
// for each.
template <class Frame>
struct StackShape {
  std::vector<Frame> inner;
  std::vector<Frame> outer;  // the outermost frames, if frames between these and `inner` are missing
  bool gap = false;          // they are
  bool incomplete = false;   // the outermost frame is missing
};

// A frame of the result, by its number in one of the two stacks; those of `outer` follow those of `inner`.
struct MixedFrame {
  bool is_python = false;
  std::size_t index = 0;
  friend bool operator==(const MixedFrame&, const MixedFrame&) = default;
};

StackShape<MixedFrame> mix(const StackShape<NativeKind>& native, const StackShape<bool>& python);

}  // namespace distrun::probe::python
