#include <distrun/common/base/throw_stack.hpp>

#include <algorithm>

using distrun::base::ThrowStack;

// Calls action(self) in a frame with `stack` at its lowest address and with the personality routine below.
extern "C" __attribute__((visibility("hidden"))) void distrun_base_call_watched(void (*action)(void*), void* self,
                                                                                ThrowStack* stack);

#if defined(__x86_64__)
asm(R"(
  .text
  .hidden distrun_base_call_watched
  .globl distrun_base_call_watched
  .type distrun_base_call_watched, @function
  .p2align 4
distrun_base_call_watched:
  .cfi_startproc
  .cfi_personality 0x1b, distrun_base_throw_personality
  endbr64
  subq $8, %rsp
  .cfi_adjust_cfa_offset 8
  movq %rdx, (%rsp)
  movq %rdi, %rax
  movq %rsi, %rdi
  call *%rax
  addq $8, %rsp
  .cfi_adjust_cfa_offset -8
  ret
  .cfi_endproc
  .size distrun_base_call_watched, . - distrun_base_call_watched
)");
#elif defined(__aarch64__)
asm(R"(
  .text
  .hidden distrun_base_call_watched
  .globl distrun_base_call_watched
  .type distrun_base_call_watched, %function
  .p2align 4
distrun_base_call_watched:
  .cfi_startproc
  .cfi_personality 0x1b, distrun_base_throw_personality
  hint #34
  sub sp, sp, #32
  .cfi_def_cfa_offset 32
  stp x29, x30, [sp, #16]
  .cfi_offset 29, -16
  .cfi_offset 30, -8
  add x29, sp, #16
  str x2, [sp]
  mov x9, x0
  mov x0, x1
  blr x9
  ldp x29, x30, [sp, #16]
  add sp, sp, #32
  .cfi_def_cfa_offset 0
  .cfi_restore 29
  .cfi_restore 30
  ret
  .cfi_endproc
  .size distrun_base_call_watched, . - distrun_base_call_watched
)");
#else
void distrun_base_call_watched(void (*action)(void*), void* self, ThrowStack*) { action(self); }
#endif

// The unwinder asks what our frame does with an exception: it only takes note of it.
extern "C" __attribute__((visibility("hidden"), used)) _Unwind_Reason_Code distrun_base_throw_personality(
    int, _Unwind_Action actions, _Unwind_Exception_Class, _Unwind_Exception* exception, _Unwind_Context* context) {
  // The CFA that the unwinder returns is the frame's stack pointer at its call.
  ThrowStack& stack = **reinterpret_cast<ThrowStack**>(_Unwind_GetCFA(context));
  if ((actions & _UA_SEARCH_PHASE) != 0) {
    stack.search(exception, context, __builtin_return_address(0));
  } else {
    stack.leave(exception);
  }
  return _URC_CONTINUE_UNWIND;
}

namespace distrun::base {
namespace {

// Walks the stack; on_frame gets each frame and returns whether to continue.
template <class OnFrame>
void walk(OnFrame on_frame) noexcept {
  _Unwind_Backtrace(
      [](_Unwind_Context* context, void* self) {
        return (*static_cast<OnFrame*>(self))(context) ? _URC_NO_REASON : _URC_END_OF_STACK;
      },
      &on_frame);
}

}  // namespace

void ThrowStack::call_watched(void (*action)(void*), void* self) {
  left_ = false;
  distrun_base_call_watched(action, self, this);
}

void ThrowStack::add(std::uint64_t pc) noexcept {
  const std::uint64_t at = found_++;
  pcs_[at < kRing ? at : kRing + (at - kRing) % (kPcsMax - kRing)] = pc;
}

void ThrowStack::search(const _Unwind_Exception* exception, _Unwind_Context* watched, const void* raiser) noexcept {
  exception_ = exception;
  found_ = 0;
  if (on_throw_ != nullptr) on_throw_();
  const auto end = _Unwind_GetCFA(watched);
  bool in_unwinder = true;
  walk([&](_Unwind_Context* context) {
    if (_Unwind_GetCFA(context) == end) return false;
    int interrupted = 0;  // 0 for a return address, which follows the call instruction
    const std::uint64_t ip = _Unwind_GetIPInfo(context, &interrupted);
    if (!in_unwinder) add(interrupted != 0 ? ip : ip - 1);
    if (ip == reinterpret_cast<std::uint64_t>(raiser)) in_unwinder = false;
    return true;
  });
}

std::vector<std::uint64_t> ThrowStack::pcs() const {
  if (!left_) return {};
  std::vector<std::uint64_t> pcs(pcs_.begin(),
                                 pcs_.begin() + static_cast<std::ptrdiff_t>(std::min<std::uint64_t>(found_, kPcsMax)));
  if (found_ > kPcsMax) {
    const auto ring = pcs.begin() + kRing;
    std::rotate(ring, ring + static_cast<std::ptrdiff_t>((found_ - kRing) % (kPcsMax - kRing)), pcs.end());
    pcs[kGap] = 0;
  }
  return pcs;
}

}  // namespace distrun::base
