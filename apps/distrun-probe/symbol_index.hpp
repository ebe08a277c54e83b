#pragma once
// The functions of a file's symbol table, ordered by address. libdwfl's own look-up goes through the whole table each
// time. Main thread only.
#include <elfutils/libdwfl.h>

#include <cstdint>
#include <vector>

namespace distrun::probe {

class SymbolIndex {
 public:
  explicit SymbolIndex(Dwfl_Module* module);

  // The linkage name of the function that holds the address, in the module's addresses; null: none does. Valid as
  // long as the module.
  const char* find(std::uint64_t address) const;

 private:
  struct Entry {
    std::uint64_t begin;
    std::uint64_t end;
    const char* name;
  };
  std::vector<Entry> entries_;  // by begin; one for each
};

}  // namespace distrun::probe
