#pragma once
// The interface between the runtime and its libdw module (module.cpp), which is opened when a stack is first named:
// linking libdw would slow down the start of all ranks for what few of them need. Headers only: neither side needs a
// symbol of the other.
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace distrun::symbols {

// A loaded program or library.
struct LoadedFile {
  std::string path;
  std::uint64_t bias = 0;  // address in memory minus address in the file
  struct Note {
    std::uint64_t at = 0;  // in the file
    std::string bytes;     // as in memory
  };
  std::vector<Note> notes{};  // including the build id
};

struct SourceLine {
  std::string file;  // empty: unknown
  std::uint32_t line = 0;
};

struct NamedPlace {
  std::string function;                  // the symbol's name, mangled; empty: unknown
  SourceLine source;                     // if a function was inlined there, the line in it
  std::vector<SourceLine> inlined_at{};  // call sites of the inlined functions, innermost first
};

namespace dw_line {

// The type of the module's symbol kEntry.
struct Module {
  int version = 0;  // must be kVersion, otherwise the module is of another distrun
  // Returns places in the order of `addresses`, which are relative to the file. They are empty if the file is too big,
  // unreadable, or not the one that was loaded. Functions are those of .symtab: the caller knows the exported ones.
  std::vector<NamedPlace> (*name_places)(const LoadedFile& loaded, std::span<const std::uint64_t> addresses) = nullptr;
};
inline constexpr int kVersion = 2;
inline constexpr char kFile[] = "distrun_dw.so";
inline constexpr char kEntry[] = "distrun_dw_module";

}  // namespace dw_line
}  // namespace distrun::symbols
