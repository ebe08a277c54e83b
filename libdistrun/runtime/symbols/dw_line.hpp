#pragma once
// The line between the runtime and its module of libdw (module.cpp), which is opened when a stack is first named: ranks
// that were linked with libdw would all start later for what few of them need. It is headers alone: neither side needs
// a symbol of the other.
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace distrun::symbols {

// A program or library that is loaded.
struct LoadedFile {
  std::string path;
  std::uint64_t bias = 0;  // of an address in memory over that in the file
  struct Note {
    std::uint64_t at = 0;  // in the file
    std::string bytes;     // as they are in memory
  };
  std::vector<Note> notes{};  // among them the id of its build
};

struct SourceLine {
  std::string file;  // empty: not known
  std::uint32_t line = 0;
};

struct NamedPlace {
  std::string function;                  // as symbols are written; empty: not known
  SourceLine source;                     // of a function that was inlined there the line in that
  std::vector<SourceLine> inlined_at{};  // where those that were inlined there are called, innermost first
};

namespace dw_line {

// What the module's symbol kEntry is.
struct Module {
  int version = 0;  // kVersion, or it is of another distrun
  // In the order of the addresses, which are those of the file. Of a file that is not what was loaded, or too big, or
  // unreadable, nothing is known. Functions are those of .symtab: who is loaded knows those that others can link to.
  std::vector<NamedPlace> (*name_places)(const LoadedFile& loaded, std::span<const std::uint64_t> addresses) = nullptr;
};
inline constexpr int kVersion = 2;
inline constexpr char kFile[] = "distrun_dw.so";
inline constexpr char kEntry[] = "distrun_dw_module";

}  // namespace dw_line
}  // namespace distrun::symbols
