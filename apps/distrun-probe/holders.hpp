#pragma once
// Finds holders that no memory names: the thread that initialises a static variable, runs the function of call_once, or
// is inside malloc(), by the functions of all stacks of a process. A pure function; thread-safe.
#include <string>
#include <vector>

#include <distrun/common/wire/stacks.hpp>

namespace distrun::probe {

struct NamedStack {
  std::vector<std::string> functions;  // qualified names, innermost first
  std::size_t runtime = 0;             // number of innermost ones that belong to the C and C++ libraries
};

// Names the holder in the wait of each thread that waits for such a thing, if exactly one thread can be it. `stacks`
// belong to the threads of the process, in the same order; the functions of a thread without a stack are empty.
void name_holders(const std::vector<NamedStack>& stacks, wire::ProcessStacks& process);

}  // namespace distrun::probe
