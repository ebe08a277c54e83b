#pragma once
// The functions of a file's symbol table. libdwfl's look-up resolves every symbol again each time; this one scans a
// plain list, which for the few addresses of a hang takes less time than sorting it. Names are read when they are
// wanted: those of a large program fill hundreds of megabytes. One thread at a time.
#include <elfutils/libdwfl.h>

#include <cstdint>
#include <vector>

namespace distrun::probe {

class SymbolIndex {
 public:
  // `module` must outlive this.
  explicit SymbolIndex(Dwfl_Module* module);

  // Returns the linkage name of the function that holds the address, in the module's addresses; null if not found.
  // Valid as long as the module.
  const char* find(std::uint64_t address) const;

 private:
  struct Entry {
    std::uint64_t begin;
    std::uint32_t size;   // at most the largest number
    std::int32_t number;  // in the symbol table
    std::uint64_t end() const noexcept { return begin + size; }
  };
  bool is_better(const Entry& entry, const Entry* than, std::uint64_t address) const;
  const char* name_of(const Entry& entry) const;
  std::uint64_t reach_of(const Entry& entry) const;

  Dwfl_Module* module_;
  std::vector<Entry> entries_;
};

}  // namespace distrun::probe
