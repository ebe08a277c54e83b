#include <distrun/common/base/signal_stack.hpp>

#include <signal.h>
#include <sys/mman.h>

namespace distrun::base {
namespace {

constexpr std::size_t kGuardSize = 4096;
constexpr std::size_t kMappedSize = kGuardSize + SignalStack::kSize;

}  // namespace

SignalStack::SignalStack() noexcept {
  stack_t there{};
  if (::sigaltstack(nullptr, &there) != 0 || (there.ss_flags & SS_DISABLE) == 0) return;
  void* memory = ::mmap(nullptr, kMappedSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
  if (memory == MAP_FAILED) return;
  ::mprotect(memory, kGuardSize, PROT_NONE);
  stack_t ours{};
  ours.ss_sp = static_cast<char*>(memory) + kGuardSize;
  ours.ss_size = kSize;
  ::sigaltstack(&ours, nullptr);
  memory_ = memory;
}

SignalStack::~SignalStack() {
  if (memory_ == nullptr) return;
  stack_t there{};
  ::sigaltstack(nullptr, &there);
  // Keeps a stack that other code has installed in its place.
  if (there.ss_sp == static_cast<char*>(memory_) + kGuardSize) {
    stack_t none{};
    none.ss_flags = SS_DISABLE;
    ::sigaltstack(&none, nullptr);
  }
  ::munmap(memory_, kMappedSize);
}

}  // namespace distrun::base
