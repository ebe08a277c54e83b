#pragma once
// A program or library that is loaded, as its file tells of it: names of functions and source lines of addresses, also
// of functions that nobody else can link to.
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <distrun/common/symbols/line_table.hpp>

namespace distrun::symbols {

// Where a file is loaded.
struct LoadedFile {
  std::string path;
  std::uint64_t bias = 0;  // of an address in memory over that in the file
  struct Note {
    std::uint64_t at = 0;  // in the file
    std::string bytes;     // as they are in memory
  };
  std::vector<Note> notes{};  // among them the id of its build
};

// Changes whenever a file was unloaded: what was found by address before is worth nothing then. Any thread.
std::uint64_t unload_count() noexcept;
// The file that has the address. An empty path: none.
LoadedFile find_loaded(std::uint64_t address);

struct NamedPlace {
  std::string function;  // as symbols are written; empty: not known
  SourceLine at;
};

// In the order of the addresses, which are those of the file. Of a file that is not what was loaded, or too big, or
// unreadable, nothing is known.
std::vector<NamedPlace> name_places(const LoadedFile& loaded, std::span<const std::uint64_t> addresses);

}  // namespace distrun::symbols
