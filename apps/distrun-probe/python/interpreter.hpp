#pragma once
// Finds the Python interpreter that a process runs, if it runs one: in its executable, or in libpython. Reads /proc and
// the file's symbols; never stops anything, and never reads the process's memory.
#include <sys/types.h>

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "foreign_memory.hpp"
#include "layout.hpp"

namespace distrun::probe::python {

// The symbols of a file, in its own addresses; 0: not there.
struct InterpreterSymbols {
  Address runtime = 0;
  Address version = 0;  // from 3.11
  Address loop = 0;     // _PyEval_EvalFrameDefault
  Address loop_size = 0;
  Address code_type = 0;
  Address base = 0;  // of the segment at the beginning of the file
};

// A file of an interpreter, mapped by a process.
struct InterpreterFile {
  std::string path;       // as in maps
  Address begin = 0;      // of its first mapping, which has the beginning of the file
  Address first_end = 0;  // of that mapping
  Address end = 0;        // of the last one
};

// Returns the files in the text of /proc/PID/maps that may hold an interpreter: libpython before executables.
std::vector<InterpreterFile> interpreter_files(std::string_view maps);

// Where the interpreter is in the process.
struct Interpreter {
  InterpreterSymbols symbols;  // in the addresses of the process
  Version version;             // as the file's name says
  InterpreterFile file;
};

class Interpreters {
 public:
  // Returns nullopt if the process runs no Python that could be found.
  std::optional<Interpreter> find(pid_t pid);

 private:
  std::optional<InterpreterSymbols> symbols_of(pid_t pid, const InterpreterFile& file);

  std::map<std::string, std::optional<InterpreterSymbols>> known_;  // by device, inode and time of the file
};

}  // namespace distrun::probe::python
