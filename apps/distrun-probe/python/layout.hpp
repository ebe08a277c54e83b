#pragma once
// Where CPython keeps what a stack consists of: offsets in its structures, by version, on x86-64. They are facts of the
// headers of each version (Include/cpython/*.h, Include/internal/pycore_*.h), taken from the debug information of
// 3.8.18, 3.9.18, 3.10.13, 3.11.7, 3.12.1 and 3.13.0. With these, and with Debian's 3.11.2, all of this has been run.
// The structures that are read stay as they are within a minor version; whether they do is checked where threads are
// read (threads.hpp).
#include <cstdint>
#include <string>

namespace distrun::probe::python {

struct Version {
  int major = 0;
  int minor = 0;
  bool debug = false;          // Py_DEBUG: objects have more fields
  bool free_threaded = false;  // no GIL, and other objects
  friend bool operator==(const Version&, const Version&) = default;
};

// How a code object says which line an instruction belongs to.
enum class LineFormat : std::uint8_t {
  Increments,  // up to 3.9: pairs of steps, of bytes and of lines
  Ranges,      // 3.10: the same for ranges, which may have no line
  Locations,   // from 3.11: entries of several kinds, with columns
};

// Which Python frames one call of the interpreter's loop, a native frame, runs.
enum class FrameKind : std::uint8_t {
  Object,  // up to 3.10: one. Frames are objects
  Marked,  // 3.11: several; the outermost is marked
  Shim,    // from 3.12: several; a frame without Python code follows the outermost
};

// Offsets in bytes. -1: the version has no such field.
struct Layout {
  int minor;
  FrameKind frame_kind;
  LineFormat line_format;

  std::int32_t runtime_interpreters;  // _PyRuntime: the first interpreter
  std::int32_t runtime_gil;           // the GIL itself, up to 3.11

  std::int32_t interpreter_next;
  std::int32_t interpreter_threads;  // the first thread
  std::int32_t interpreter_gil;      // pointer to its GIL, from 3.12
  std::int32_t interpreter_modules;  // the dictionary sys.modules; -1: asyncio's tasks are not read

  std::int32_t thread_frame;   // the innermost frame; or, if the next field is not -1, where that is kept
  std::int32_t cframe_frame;   // there
  std::int32_t thread_handle;  // pthread_t
  std::int32_t thread_native;  // the kernel's id, from 3.11

  std::int32_t frame_previous;
  std::int32_t frame_code;
  std::int32_t frame_instruction;  // a number up to 3.10, then a pointer
  std::int32_t frame_kind_at;      // the mark of 3.11; the owner, from 3.12
  std::int32_t frame_head;         // its size without local variables and stack, from 3.11

  std::int32_t code_name;  // the qualified one, from 3.11
  std::int32_t code_file;
  std::int32_t code_table;
  std::int32_t code_line;      // of the definition
  std::int32_t code_bytecode;  // the first instruction, from 3.11

  std::int32_t text_ascii;    // size of the head of a string of ASCII characters
  std::int32_t text_compact;  // and of another one
};

// The same in all versions.
inline constexpr std::int32_t kThreadNext = 8;
inline constexpr std::int32_t kThreadInterpreter = 16;
inline constexpr std::int32_t kObjectType = 8;
inline constexpr std::int32_t kObjectSize = 16;  // of variable-sized objects: their length
inline constexpr std::int32_t kBytesData = 32;
inline constexpr std::int32_t kTextState = 32;
inline constexpr std::int32_t kCodeSize = 176;          // what is read of a code object, which is at least as large
inline constexpr std::int32_t kFrameSize = 112;         // and of a frame, with at least one value
inline constexpr std::uint8_t kOwnedByNativeStack = 3;  // the owner of a shim frame

// Returns null for a version with unknown layout.
const Layout* find_layout(const Version& version);

// Returns why the frames of this version are not read, as a sentence; "" if they are. `version` 0.0: not known.
std::string why_not(const Version& version);

// Finds the version in the name of an executable or a library: "python3.11", "libpython3.13t.so.1.0"; 0.0 if it is in
// none.
Version version_in_name(const std::string& file);

}  // namespace distrun::probe::python
