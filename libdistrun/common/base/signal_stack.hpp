#pragma once
// The stack on which a thread handles signals, so that it can still do so when its own is used up.
// Lives on: the thread that makes it, which must also destroy it.
#include <cstddef>

namespace distrun::base {

class SignalStack {
 public:
  // Does nothing if the thread has such a stack already (a sanitizer's, a test's), or if there is no memory.
  SignalStack() noexcept;
  SignalStack(const SignalStack&) = delete;
  SignalStack& operator=(const SignalStack&) = delete;
  ~SignalStack();

  static constexpr std::size_t kSize = std::size_t{64} << 10;

 private:
  void* memory_ = nullptr;  // its lowest page cannot be touched, so that to use up this stack is a fault, too
};

}  // namespace distrun::base
