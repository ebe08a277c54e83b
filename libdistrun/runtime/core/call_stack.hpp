#pragma once
// Call stacks as return addresses: cheap enough to keep for each piece of work that is put on a stream, and converted
// to names (symbols/caller.hpp) only on request.
//
// A stack is unwound once, at 0.1 us per frame. The distances between the return addresses of callers are kept, and the
// next call from the same place reads the addresses directly off the stack, at some 0.01 us per frame. If a function's
// frame has another size now, another address or an unknown one is found there, and the stack is unwound again. On
// machines other than x86-64 every stack is unwound.
//
// If the runtime is a shared library, stacks end a few frames beyond its code, which is where its caller is. In a
// program that the runtime is linked into, stacks have up to 64 frames.
#include <cstdint>
#include <vector>

namespace distrun::core {

// Immutable; lives until the process ends; equal stacks are the same object.
struct CallStack {
  std::uint64_t pc = 0;              // return address of the outermost known frame
  const CallStack* inner = nullptr;  // the inner frames; null: none

  // Returns the addresses, innermost first, each inside the call instruction.
  std::vector<std::uint64_t> pcs() const;
};

// Returns the stack that begins with the caller of this function as the innermost frame. Null: the limit of different
// stacks is reached. Any thread.
const CallStack* call_stack();

// Returns whether the address is in the runtime's shared library; always false if the runtime is linked into a program.
bool is_in_own_library(std::uint64_t address) noexcept;

}  // namespace distrun::core
