#pragma once
// A file with code: its symbols and debug information, by address. The debug information is opened when an address is
// looked up that the cache lacks. One thread at a time.
#include <elfutils/libdwfl.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <distrun/common/base/clock.hpp>

#include "function_index.hpp"
#include "names_cache.hpp"
#include "plt_stubs.hpp"
#include "symbol_index.hpp"

namespace distrun::probe {

class SymbolFile {
 public:
  // `module` must outlive this; null for a file that cannot be read. `path` is its name in frames. Begins with the
  // names that the cache has.
  SymbolFile(Dwfl_Module* module, std::string path, const NamesCache& cache);

  const std::string& path() const noexcept { return path_; }
  // Returns whether an address lies within the file; true for a file that cannot be read.
  bool may_hold(std::uint64_t offset) const;
  // Returns the functions at an address of the file, innermost first; never empty. Looks each address up once.
  const std::vector<Function>& find(std::uint64_t offset);
  // Adds what was found since the last call to the cache, if all look-ups together took long enough.
  void keep_names(const NamesCache& cache);

 private:
  FunctionIndex* functions();
  std::vector<Function> look_up(std::uint64_t offset);
  // Returns the name of code without debug information; may be empty.
  std::string symbol_at(std::uint64_t address);

  Dwfl_Module* module_;
  std::string path_;
  Dwarf_Addr bias_ = 0;                     // from the file's addresses to the module's
  Dwarf_Addr dwarf_bias_ = 0;               // from those of its debug information
  std::string build_id_;                    // hexadecimal; empty: it has none
  bool has_opened_ = false;                 // `functions_`
  std::optional<FunctionIndex> functions_;  // empty: no debug information worth reading
  std::optional<SymbolIndex> symbols_;
  std::optional<PltStubs> stubs_;
  NamesCache::Names known_;
  bool has_more_ = false;       // than the cache
  base::Nanoseconds spent_{0};  // by all look-ups
};

}  // namespace distrun::probe
