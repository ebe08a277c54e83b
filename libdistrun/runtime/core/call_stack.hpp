#pragma once
// Who has called, as return addresses: cheap enough to be kept for each piece of work that is put on a stream, and
// given names (symbols/caller.hpp) only if somebody asks.
//
// A stack is unwound once, which takes a tenth of a microsecond a frame. What was learned then, how far the return
// addresses of two callers lie apart, is kept, and the next call from the same place reads them off the stack: some
// hundredths of a microsecond a frame. A function whose frame has another size now has another address there, or none
// that is known, and the stack is unwound again. So it is on machines other than x86-64 every time.
//
// From a shared library the addresses go no further out than a few frames beyond its own code: the library is the
// runtime's, and whoever called it stands there. In a program that the runtime is linked into they go as far as 64
// frames.
#include <cstdint>
#include <vector>

namespace distrun::core {

// Immutable, lives until the process ends; the same stack is the same object.
struct CallStack {
  std::uint64_t pc = 0;              // of the outermost frame that is known: a return address
  const CallStack* inner = nullptr;  // the frames further in; null: there are none

  // Innermost first, each inside the instruction that calls.
  std::vector<std::uint64_t> pcs() const;
};

// Of the caller of this function, which is the innermost frame. Null: there are more different ones than are kept. Any
// thread.
const CallStack* call_stack();

// Whether the address is in the shared library that the runtime is; in a program that it is linked into: never.
bool is_in_own_library(std::uint64_t address) noexcept;

}  // namespace distrun::core
