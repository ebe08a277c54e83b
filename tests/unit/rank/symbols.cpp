#include "symbols.hpp"

#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <unistd.h>

#include <cstdlib>
#include <map>

namespace distrun::testing {
namespace {

char* no_debug_path = nullptr;
const Dwfl_Callbacks callbacks{dwfl_linux_proc_find_elf, dwfl_standard_find_debuginfo, nullptr, &no_debug_path};

std::string last_part(const char* path) {
  const std::string text = path != nullptr ? path : "";
  return text.substr(text.rfind('/') + 1);
}

// Clang writes no index from addresses to units.
Dwarf_Die* unit_at(Dwfl_Module* module, Dwarf_Addr pc, Dwarf_Addr& bias) {
  Dwarf_Die* unit = dwfl_module_addrdie(module, pc, &bias);
  if (unit != nullptr) return unit;
  while ((unit = dwfl_module_nextcu(module, unit, &bias)) != nullptr && dwarf_haspc(unit, pc - bias) <= 0) {
  }
  return unit;
}

Place place_of(Dwarf_Die* unit, Dwarf_Addr pc) {
  Place place;
  if (Dwarf_Line* line = dwarf_getsrc_die(unit, pc)) {
    place.file = last_part(dwarf_linesrc(line, nullptr, nullptr));
    dwarf_lineno(line, &place.line);
  }
  return place;
}

// Returns where an inlined function was called.
Place place_of_call(Dwarf_Die* unit, Dwarf_Die* inlined) {
  Place place;
  Dwarf_Attribute attribute;
  Dwarf_Word file = 0;
  Dwarf_Word line = 0;
  Dwarf_Files* files = nullptr;
  dwarf_formudata(dwarf_attr(inlined, DW_AT_call_file, &attribute), &file);
  dwarf_formudata(dwarf_attr(inlined, DW_AT_call_line, &attribute), &line);
  if (dwarf_getsrcfiles(unit, &files, nullptr) == 0) {
    place.file = last_part(dwarf_filesrc(files, file, nullptr, nullptr));
  }
  place.line = static_cast<int>(line);
  return place;
}

std::string name_of(Dwarf_Die* function) {
  Dwarf_Attribute attribute;
  const char* name = dwarf_formstring(dwarf_attr_integrate(function, DW_AT_name, &attribute));
  return name != nullptr ? name : "?";
}

// Finds the innermost scope that contains an address. dwarf_getscopes() does not descend into namespaces, where clang
// leaves functions.
bool find_innermost(Dwarf_Die* parent, Dwarf_Addr pc, Dwarf_Die& found) {
  Dwarf_Die child;
  if (dwarf_child(parent, &child) != 0) return false;
  do {
    const bool has_pc = dwarf_haspc(&child, pc) == 1;
    if (!has_pc && dwarf_tag(&child) != DW_TAG_namespace) continue;
    if (find_innermost(&child, pc, found)) return true;
    found = child;
    if (has_pc) return true;
  } while (dwarf_siblingof(&child, &child) == 0);
  return false;
}

// Returns the scopes that contain an address, innermost first; the caller frees them.
int scopes_at(Dwarf_Die* unit, Dwarf_Addr pc, Dwarf_Die** scopes) {
  Dwarf_Die innermost;
  return find_innermost(unit, pc, innermost) ? dwarf_getscopes_die(&innermost, scopes) : 0;
}

}  // namespace

struct Symbols::State {
  Dwfl* dwfl = dwfl_begin(&callbacks);
  std::map<std::uint64_t, std::vector<Place>> known;  // most frames occur in many stacks

  std::vector<Place> look_up(std::uint64_t pc) const;
};

Symbols::Symbols() : state_(std::make_unique<State>()) {
  dwfl_report_begin(state_->dwfl);
  dwfl_linux_proc_report(state_->dwfl, ::getpid());
  dwfl_report_end(state_->dwfl, nullptr, nullptr);
}

Symbols::~Symbols() { dwfl_end(state_->dwfl); }

const std::vector<Place>& Symbols::find(std::uint64_t pc) const {
  const auto known = state_->known.find(pc);
  if (known != state_->known.end()) return known->second;
  return state_->known[pc] = state_->look_up(pc);
}

std::vector<Place> Symbols::State::look_up(std::uint64_t pc) const {
  std::vector<Place> places;
  Dwarf_Addr bias = 0;
  Dwfl_Module* module = dwfl_addrmodule(dwfl, pc);
  Dwarf_Die* unit = module == nullptr ? nullptr : unit_at(module, pc, bias);
  if (unit == nullptr) return places;
  Dwarf_Die* scopes = nullptr;
  const int count = scopes_at(unit, pc - bias, &scopes);
  Place place = place_of(unit, pc - bias);
  for (int i = 0; i < count; ++i) {
    const int tag = dwarf_tag(&scopes[i]);
    if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_subprogram) continue;
    place.function = name_of(&scopes[i]);
    places.push_back(place);
    if (tag == DW_TAG_subprogram) break;
    place = place_of_call(unit, &scopes[i]);
  }
  std::free(scopes);
  return places;
}

Place Symbols::innermost_in(const wire::RawThread& thread, std::string_view file) const {
  for (const std::uint64_t pc : thread.pcs) {
    for (const Place& place : find(pc)) {
      if (place.file == file) return place;
    }
  }
  return {};
}

bool Symbols::has_function(const wire::RawThread& thread, std::string_view function) const {
  for (const std::uint64_t pc : thread.pcs) {
    for (const Place& place : find(pc)) {
      if (place.function == function) return true;
    }
  }
  return false;
}

}  // namespace distrun::testing
