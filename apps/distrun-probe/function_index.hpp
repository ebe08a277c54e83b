#pragma once
// The functions in DWARF, by address: the function that holds the code and those inlined there. A compile unit is read
// once, when an address first falls into it. One thread at a time.
#include <elfutils/libdw.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "unit_ranges.hpp"

namespace distrun::probe {

struct Function {
  std::string name;  // readable; empty: no name here
  std::string file;  // of the running line, or of the call of the function inlined there
  std::uint32_t line = 0;
  bool inlined = false;
  bool has_linkage_name = false;  // then `name` is qualified
};

class FunctionIndex {
 public:
  explicit FunctionIndex(Dwarf* dwarf) noexcept : dwarf_(dwarf) {}

  // Returns the functions at an address of the DWARF file, innermost first; empty if unknown.
  std::vector<Function> find(Dwarf_Addr address);

 private:
  struct Range {
    Dwarf_Addr begin;
    Dwarf_Addr end;
    Dwarf_Die die;
  };
  using Ranges = std::vector<Range>;
  struct Unit {
    Dwarf_Die lines;               // the unit itself, or its skeleton
    Dwarf_Die whole;               // the unit itself
    Ranges functions;              // by address
    std::optional<Ranges> nested;  // in functions and classes; read when an address is in no other function
  };

  static void add_ranges(Dwarf_Die* die, Ranges& ranges);
  static void add_functions(Dwarf_Die* parent, Ranges& functions, int depth);
  static void add_nested(Dwarf_Die* parent, Ranges& functions, int depth);
  static void sort(Ranges& ranges);
  static const Range* function_of(Unit& unit, Dwarf_Addr address);
  static const Range* range_of(const Ranges& ranges, Dwarf_Addr address);
  std::optional<Dwarf_Die> unit_die(Dwarf_Addr address);
  std::optional<Dwarf_Die> indexed_unit_die(Dwarf_Addr address);
  const Ranges& other_units();
  Unit& unit_of(Dwarf_Die die);

  Dwarf* dwarf_;
  bool has_looked_ = false;                  // for `indexed_units_`
  std::optional<UnitRanges> indexed_units_;  // empty: libdw reads .debug_aranges, if there is one
  std::optional<Ranges> other_units_;        // that .debug_aranges lacks; created when it lacks an address
  std::map<Dwarf_Off, Unit> units_;          // the units read so far
};

}  // namespace distrun::probe
