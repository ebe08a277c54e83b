#pragma once
// The functions of a file's symbol table. libdwfl's own look-up resolves every symbol again each time; this one goes
// through a plain list, which for the few addresses of a hang takes less than to sort it. Main thread only.
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
    std::uint64_t reach;  // the end; of one without a size that of its section
    const char* name;
  };
  static bool is_better(const Entry& entry, const Entry* than, std::uint64_t address);

  std::vector<Entry> entries_;
};

}  // namespace distrun::probe
