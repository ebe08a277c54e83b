#pragma once
// The alternate stack on which a thread handles signals, so that it can handle a stack overflow. Lives on: the thread
// that creates it, which must also destroy it.
#include <cstddef>

namespace distrun::base {

class SignalStack {
 public:
  // Does nothing if the thread already has such a stack (a sanitizer's, a test's), or if there is no memory.
  SignalStack() noexcept;
  SignalStack(const SignalStack&) = delete;
  SignalStack& operator=(const SignalStack&) = delete;
  ~SignalStack();

  static constexpr std::size_t kSize = std::size_t{64} << 10;

 private:
  void* memory_ = nullptr;  // its lowest page is inaccessible: an overflow of this stack is a fault, too
};

}  // namespace distrun::base
