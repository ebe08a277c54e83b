#pragma once
// Where an exception that nobody catches was thrown: the addresses of the throwing thread's stack, while all of it
// still stands.
//
// An exception is thrown in two phases. In the first the unwinder searches for a handler, frame by frame outwards, and
// changes nothing; in the second it unwinds up to that handler. The action runs under a small frame whose personality
// routine, the function that the unwinder asks about a frame, is our own. It is asked in the first phase only if no
// frame further in wants the exception: so an exception that user code catches costs nothing, whatever the compiler,
// the library and the type, and of any other the whole stack is still there to be walked. In the second phase it notes
// that this very exception leaves; so a stack is never told of another one.
//
// Of an exception that was caught and is thrown again the stack is that of the last throw (`throw;`,
// std::rethrow_exception). Addresses get names outside of the process. On machines other than x86-64 and aarch64 the
// action is simply called, and there is no stack.
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <unwind.h>

namespace distrun::base {

// Of one call of watch(); lives on the stack of who catches. One thread.
class ThrowStack {
 public:
  static constexpr std::size_t kPcsMax = 128;

  // `on_throw` is called when an exception is about to leave the action, while everything that it leaves still stands.
  explicit ThrowStack(void (*on_throw)() noexcept = nullptr) noexcept : on_throw_(on_throw) {}
  ThrowStack(const ThrowStack&) = delete;
  ThrowStack& operator=(const ThrowStack&) = delete;

  // Throws whatever the action throws.
  template <class Action>
  void watch(Action& action) {
    call_watched([](void* self) { (*static_cast<Action*>(self))(); }, std::addressof(action));
  }

  // Of the exception that has left the action last, innermost first, each inside the instruction that calls; a 0 behind
  // the first: frames in the middle were left out. Without the frames of the unwinder, and those outside of watch().
  // Empty if there is none.
  std::vector<std::uint64_t> pcs() const;
  // Whether the action has ended by the exception of the last on_throw().
  bool left() const noexcept { return left_; }

  // For the personality routine, in the two phases. `raiser`: an address in the unwinder's function, from which frames
  // on are told.
  void search(const _Unwind_Exception* exception, _Unwind_Context* watched, const void* raiser) noexcept;
  void leave(const _Unwind_Exception* exception) noexcept { left_ = exception == exception_; }

 private:
  static constexpr std::size_t kGap = 96;         // the index of the 0 that stands for frames left out
  static constexpr std::size_t kRing = kGap + 1;  // from here on the outermost ones, the newest over the oldest

  void call_watched(void (*action)(void*), void* self);
  void add(std::uint64_t pc) noexcept;

  void (*on_throw_)() noexcept;
  std::array<std::uint64_t, kPcsMax> pcs_;  // unset but for what was found
  std::uint64_t found_ = 0;
  const _Unwind_Exception* exception_ = nullptr;  // whose stack it is; never followed
  bool left_ = false;                             // the action has ended by it
};

}  // namespace distrun::base
