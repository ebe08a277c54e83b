#pragma once
// Tells whether a plugin uses process groups or RPC, for the first line of a run: it does if it imports functions of
// theirs, or a library does that it is linked with.
#include <string_view>

namespace distrun::rank {

struct UsedParts {
  bool backend = false;  // process groups
  bool agent = false;    // RPC, references to remote values, distributed autograd
};

// Looks at all loaded libraries. Thread-safe; takes microseconds for each.
UsedParts find_used_parts();

// Adds what a library needs that imports this symbol, as its mangled name says.
void add_part_of(std::string_view symbol, UsedParts& parts);

}  // namespace distrun::rank
