#include "function_index.hpp"

#include <dwarf.h>

#include <algorithm>
#include <utility>

#include "names.hpp"

namespace distrun::probe {
namespace {

constexpr int kDepthMax = 64;  // of namespaces, and of blocks in a function

std::string name_of(Dwarf_Die* die, bool& linkage) {
  Dwarf_Attribute attribute;
  for (const unsigned kind : {DW_AT_linkage_name, DW_AT_MIPS_linkage_name}) {
    if (dwarf_attr_integrate(die, kind, &attribute) == nullptr) continue;
    if (const char* mangled = dwarf_formstring(&attribute)) {
      linkage = true;
      return readable_name(mangled);
    }
  }
  const char* name = dwarf_diename(die);
  return name != nullptr ? readable_text(name) : "";
}

std::uint32_t number_of(Dwarf_Die* die, unsigned kind) {
  Dwarf_Attribute attribute;
  Dwarf_Word value = 0;
  if (dwarf_formudata(dwarf_attr(die, kind, &attribute), &value) != 0) return 0;
  return static_cast<std::uint32_t>(value);
}

// Collects the inlined functions at the address, below `die`, innermost first.
void find_inlined(Dwarf_Die die, Dwarf_Addr address, std::vector<Dwarf_Die>& found, int depth) {
  Dwarf_Die child;
  if (depth > kDepthMax || dwarf_child(&die, &child) != 0) return;
  do {
    const int tag = dwarf_tag(&child);
    if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_lexical_block) continue;
    if (dwarf_haspc(&child, address) != 1) continue;
    find_inlined(child, address, found, depth + 1);
    if (tag == DW_TAG_inlined_subroutine) found.push_back(child);
    return;
  } while (dwarf_siblingof(&child, &child) == 0);
}

void set_line(Function& function, Dwarf_Die& unit, Dwarf_Addr address) {
  Dwarf_Line* line = dwarf_getsrc_die(&unit, address);
  if (line == nullptr) return;
  int number = 0;
  if (const char* file = dwarf_linesrc(line, nullptr, nullptr)) function.file = file;
  if (dwarf_lineno(line, &number) == 0) function.line = static_cast<std::uint32_t>(number);
}

// The caller of an inlined function has the line of the call.
void set_call(Function& function, Dwarf_Die& unit, Dwarf_Die* inlined) {
  Dwarf_Files* files = nullptr;
  std::size_t count = 0;
  const std::uint32_t index = number_of(inlined, DW_AT_call_file);
  if (dwarf_getsrcfiles(&unit, &files, &count) == 0 && index < count) {
    if (const char* file = dwarf_filesrc(files, index, nullptr, nullptr)) function.file = file;
  }
  function.line = number_of(inlined, DW_AT_call_line);
}

Dwarf_Off offset_of_unit(Dwarf_Die die) { return dwarf_dieoffset(&die) - dwarf_cuoffset(&die); }

}  // namespace

void FunctionIndex::add_ranges(Dwarf_Die* die, Ranges& ranges) {
  Dwarf_Addr base = 0;
  Dwarf_Addr begin = 0;
  Dwarf_Addr end = 0;
  for (std::ptrdiff_t next = 0; (next = dwarf_ranges(die, next, &base, &begin, &end)) > 0;) {
    if (begin < end) ranges.push_back({begin, end, *die});
  }
}

// clang nests functions in their namespaces, g++ does not.
void FunctionIndex::add_functions(Dwarf_Die* parent, Ranges& functions, int depth) {
  Dwarf_Die child;
  if (depth > kDepthMax || dwarf_child(parent, &child) != 0) return;
  do {
    const int tag = dwarf_tag(&child);
    if (tag == DW_TAG_subprogram) add_ranges(&child, functions);
    if (tag == DW_TAG_namespace || tag == DW_TAG_module) add_functions(&child, functions, depth + 1);
  } while (dwarf_siblingof(&child, &child) == 0);
}

// The code of a captureless lambda that was converted to a pointer is a member `_FUN` of a class inside a function.
void FunctionIndex::add_nested(Dwarf_Die* parent, Ranges& functions, int depth) {
  Dwarf_Die child;
  if (depth > kDepthMax || dwarf_child(parent, &child) != 0) return;
  do {
    const int tag = dwarf_tag(&child);
    if (tag == DW_TAG_subprogram) add_ranges(&child, functions);
    const bool may_hold = tag == DW_TAG_subprogram || tag == DW_TAG_namespace || tag == DW_TAG_module ||
                          tag == DW_TAG_lexical_block || tag == DW_TAG_class_type || tag == DW_TAG_structure_type ||
                          tag == DW_TAG_union_type || tag == DW_TAG_inlined_subroutine;
    if (may_hold) add_nested(&child, functions, depth + 1);
  } while (dwarf_siblingof(&child, &child) == 0);
}

void FunctionIndex::sort(Ranges& ranges) {
  std::sort(ranges.begin(), ranges.end(), [](const Range& a, const Range& b) { return a.begin < b.begin; });
}

const FunctionIndex::Range* FunctionIndex::function_of(Unit& unit, Dwarf_Addr address) {
  if (const Range* range = range_of(unit.functions, address)) return range;
  if (!unit.nested) {
    add_nested(&unit.whole, unit.nested.emplace(), 0);
    sort(*unit.nested);
  }
  return range_of(*unit.nested, address);
}

const FunctionIndex::Range* FunctionIndex::range_of(const Ranges& ranges, Dwarf_Addr address) {
  auto next = std::upper_bound(ranges.begin(), ranges.end(), address,
                               [](Dwarf_Addr value, const Range& range) { return value < range.begin; });
  if (next == ranges.begin()) return nullptr;
  --next;
  return address < next->end ? &*next : nullptr;
}

// clang writes no .debug_aranges.
const FunctionIndex::Ranges& FunctionIndex::other_units() {
  if (other_units_) return *other_units_;
  Ranges& ranges = other_units_.emplace();
  Dwarf_CU* unit = nullptr;
  Dwarf_Die die;
  std::uint8_t type = 0;
  while (dwarf_get_units(dwarf_, unit, &unit, nullptr, &type, &die, nullptr) == 0) {
    if (type != DW_UT_compile && type != DW_UT_skeleton) continue;
    if (!indexed_units_ || !indexed_units_->has(offset_of_unit(die))) add_ranges(&die, ranges);
  }
  sort(ranges);
  return ranges;
}

std::optional<Dwarf_Die> FunctionIndex::indexed_unit_die(Dwarf_Addr address) {
  if (!std::exchange(has_looked_, true)) indexed_units_ = UnitRanges::of(dwarf_);
  Dwarf_Die die;
  if (!indexed_units_) return dwarf_addrdie(dwarf_, address, &die) != nullptr ? std::optional(die) : std::nullopt;
  const std::optional<std::uint64_t> unit = indexed_units_->find(address);
  Dwarf_Off next = 0;
  std::size_t header = 0;
  if (!unit ||
      dwarf_next_unit(dwarf_, *unit, &next, &header, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr) != 0 ||
      dwarf_offdie(dwarf_, *unit + header, &die) == nullptr) {
    return std::nullopt;
  }
  return die;
}

std::optional<Dwarf_Die> FunctionIndex::unit_die(Dwarf_Addr address) {
  if (std::optional<Dwarf_Die> die = indexed_unit_die(address)) return die;
  const Range* range = range_of(other_units(), address);
  return range != nullptr ? std::optional(range->die) : std::nullopt;
}

FunctionIndex::Unit& FunctionIndex::unit_of(Dwarf_Die die) {
  const auto [place, is_new] = units_.try_emplace(dwarf_dieoffset(&die));
  Unit& unit = place->second;
  if (!is_new) return unit;
  unit.lines = die;
  Dwarf_Die split;
  std::uint8_t type = 0;
  if (dwarf_cu_info(die.cu, nullptr, &type, nullptr, &split, nullptr, nullptr, nullptr) == 0 &&
      type == DW_UT_skeleton && split.cu != nullptr) {
    die = split;
  }
  unit.whole = die;
  add_functions(&die, unit.functions, 0);
  sort(unit.functions);
  return unit;
}

std::vector<Function> FunctionIndex::find(Dwarf_Addr address) {
  std::vector<Function> functions;
  const std::optional<Dwarf_Die> die = unit_die(address);
  if (!die) return functions;
  Unit& unit = unit_of(*die);
  const Range* range = function_of(unit, address);
  std::vector<Dwarf_Die> dies;
  if (range != nullptr) {
    find_inlined(range->die, address, dies, 0);
    dies.push_back(range->die);
  }
  for (std::size_t i = 0; i < dies.size(); ++i) {
    Function function;
    function.name = name_of(&dies[i], function.has_linkage_name);
    function.inlined = i + 1 < dies.size();
    if (i == 0) set_line(function, unit.lines, address);
    if (i > 0) set_call(function, unit.lines, &dies[i - 1]);
    functions.push_back(std::move(function));
  }
  if (dies.empty()) set_line(functions.emplace_back(), unit.lines, address);
  return functions;
}

}  // namespace distrun::probe
