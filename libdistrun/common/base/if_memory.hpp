#pragma once
// Helpers for code that must not throw but builds texts and lists: the caller gives an alternative for exhausted
// memory.
//
//   const std::exception_ptr why = base::error_if_memory([&] { return Error(ErrorKind::Failed, "no " + name); });
#include <exception>
#include <new>
#include <utility>

#include <distrun/common/base/error.hpp>

namespace distrun::base {

// Returns what `act` returns; what `instead` returns if `act` throws std::bad_alloc. Neither throws anything else.
template <class Act, class Instead>
auto if_memory(Act act, Instead instead) noexcept {
  try {
    return act();
  } catch (const std::bad_alloc&) {
    return instead();
  }
}

// Runs `act` unless there is no memory for it.
template <class Act>
void if_memory(Act act) noexcept {
  if_memory(std::move(act), [] {});
}

// Returns the error that `make` returns; std::bad_alloc if there is no memory for it.
template <class Make>
std::exception_ptr error_if_memory(Make make) noexcept {
  return if_memory([&] { return std::make_exception_ptr(make()); }, [] { return std::current_exception(); });
}

// Returns an error for code that has found no memory for a better one: "out of memory", of that kind. Takes none
// itself, since strings as short as these are kept in the object.
inline Error out_of_memory(ErrorKind kind) noexcept { return {kind, "MemoryError", "out of memory", {}}; }

// Returns the error that `make` returns; out_of_memory(kind) if there is no memory for it.
template <class Make>
Error error_or_shortage(ErrorKind kind, Make make) noexcept {
  return if_memory(std::move(make), [kind] { return out_of_memory(kind); });
}

}  // namespace distrun::base
