#pragma once
// The functions of a file's symbol table. libdwfl's look-up resolves every symbol again each time; this one scans a
// plain list, which for the few addresses of a hang takes less time than sorting it. One thread at a time.
#include <elfutils/libdwfl.h>

#include <cstdint>
#include <vector>

namespace distrun::probe {

class SymbolIndex {
 public:
  explicit SymbolIndex(Dwfl_Module* module);

  // Returns the linkage name of the function that holds the address, in the module's addresses; null if not found.
  // Valid as long as the module.
  const char* find(std::uint64_t address) const;

 private:
  struct Entry {
    std::uint64_t begin;
    std::uint64_t end;
    std::uint64_t reach;  // the end; without a size, the end of its section
    const char* name;
  };
  static bool is_better(const Entry& entry, const Entry* than, std::uint64_t address);

  std::vector<Entry> entries_;
};

}  // namespace distrun::probe
