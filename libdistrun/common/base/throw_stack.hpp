#pragma once
// Records where an uncaught exception was thrown: the addresses of the thread's stack, taken while all frames exist.
//
// An exception is thrown in two phases. In the first, the unwinder searches for a handler, frame by frame outwards, and
// changes nothing; in the second, it unwinds up to that handler. The action runs under a small frame with our own
// personality routine, the function that the unwinder asks about a frame. In the first phase it is asked only if no
// inner frame catches the exception. So an exception that user code catches costs nothing, with any compiler, library
// and type, and for any other the whole stack can still be walked. In the second phase the routine notes that
// this same exception leaves the action, so a stack is never attributed to another one.
//
// For an exception that was caught and rethrown (`throw;`, std::rethrow_exception), the stack is that of the last
// throw. Addresses are symbolised outside of the process. On machines other than x86-64 and aarch64 the action is
// simply called, and there is no stack.
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <unwind.h>

namespace distrun::base {

// The stack of one watch() call. Lives on the stack of the function that catches; single-threaded.
class ThrowStack {
 public:
  static constexpr std::size_t kPcsMax = 128;

  // Calls `on_throw` when an exception is about to leave the action, before any frame is unwound.
  explicit ThrowStack(void (*on_throw)() noexcept = nullptr) noexcept : on_throw_(on_throw) {}
  ThrowStack(const ThrowStack&) = delete;
  ThrowStack& operator=(const ThrowStack&) = delete;

  // Lets the action's exceptions pass.
  template <class Action>
  void watch(Action& action) {
    call_watched([](void* self) { (*static_cast<Action*>(self))(); }, std::addressof(action));
  }

  // Returns the stack of the exception that last left the action, innermost frame first. Each address lies inside the
  // call instruction; a 0 after the first means that frames in the middle were left out. Without the frames of the
  // unwinder and those outside of watch(). Empty if there was no such exception.
  std::vector<std::uint64_t> pcs() const;
  // Returns whether the action ended by the exception of the last on_throw().
  bool left() const noexcept { return left_; }

  // Called by the personality routine in the two phases. `raiser` is an address in the unwinder's function; only frames
  // outside of it are recorded.
  void search(const _Unwind_Exception* exception, _Unwind_Context* watched, const void* raiser) noexcept;
  void leave(const _Unwind_Exception* exception) noexcept { left_ = exception == exception_; }

 private:
  static constexpr std::size_t kGap = 96;         // the index of the 0 that stands for omitted frames
  static constexpr std::size_t kRing = kGap + 1;  // from here on a ring of the outermost frames

  void call_watched(void (*action)(void*), void* self);
  void add(std::uint64_t pc) noexcept;

  void (*on_throw_)() noexcept;
  std::array<std::uint64_t, kPcsMax> pcs_;  // only the recorded elements are set
  std::uint64_t found_ = 0;
  const _Unwind_Exception* exception_ = nullptr;  // the exception that the stack belongs to; never dereferenced
  bool left_ = false;                             // the action ended by it
};

}  // namespace distrun::base
