#pragma once
// Objects of CPython 3.11 that lead to asyncio's tasks: modules, dictionaries and sets. Each read is bounded, and an
// object of another type than expected counts as missing.
#include <string>
#include <string_view>
#include <vector>

#include "foreign_memory.hpp"
#include "layout.hpp"

namespace distrun::probe::python {

// Returns whether the object's type has this name, as the type itself has it: "dict", "_asyncio.Task".
bool is_of_type(ForeignMemory& memory, Address object, std::string_view type);

// Returns the value of a key that is ASCII text; 0: the key is missing, or the dictionary is too large.
Address dict_value(ForeignMemory& memory, const Layout& layout, Address dict, std::string_view key);

// Returns the objects of a set, in the order of its table; empty for a set that is too large.
std::vector<Address> set_members(ForeignMemory& memory, Address set);

// Returns the set that a WeakSet keeps its references in; 0: it cannot be read.
Address weak_set_data(ForeignMemory& memory, const Layout& layout, Address weak_set);

}  // namespace distrun::probe::python
