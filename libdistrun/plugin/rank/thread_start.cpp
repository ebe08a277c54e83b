#include <distrun/plugin/rank/thread_start.hpp>

#include <dlfcn.h>
#include <pthread.h>
#include <threads.h>

#include <atomic>
#include <cerrno>
#include <new>
#include <type_traits>

#include <distrun/common/base/sanitizer.hpp>
#include <distrun/common/base/signal_stack.hpp>

namespace distrun::rank {
namespace {

pthread_key_t at_thread_end;
std::atomic<bool> gives{false};

// In the thread's static memory: the heap would create an arena for a thread that never allocates.
alignas(base::SignalStack) constinit thread_local char stack_memory[sizeof(base::SignalStack)] = {};

void give_back(void* stack) { static_cast<base::SignalStack*>(stack)->~SignalStack(); }

template <class Function>
struct Start {
  Function* function;
  void* argument;
};

// A tail call, so that this function is not on the stack of the callee.
template <class Function>
std::invoke_result_t<Function, void*> begin_thread(void* given) {
  auto* const start = static_cast<Start<Function>*>(given);
  const Start<Function> own = *start;
  delete start;
  ::pthread_setspecific(at_thread_end, new (stack_memory) base::SignalStack);
  return own.function(own.argument);
}

// `call` starts a thread; returns 0 on success.
template <class Function, class Call>
int with_stack(Function* function, void* argument, const Call& call) noexcept {
  auto* const start = gives ? new (std::nothrow) Start<Function>{function, argument} : nullptr;
  if (start == nullptr) return call(function, argument);
  const int error = call(begin_thread<Function>, start);
  if (error != 0) delete start;
  return error;
}

// Returns the C library's function.
template <class Function>
Function* libc_function(const char* name) noexcept {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

}  // namespace

void give_threads_signal_stacks() noexcept {
  if (!base::kSanitized && !gives) gives = ::pthread_key_create(&at_thread_end, give_back) == 0;
}

}  // namespace distrun::rank

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define DISTRUN_SANITIZER_STARTS_THREADS
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define DISTRUN_SANITIZER_STARTS_THREADS
#endif
#endif

#ifndef DISTRUN_SANITIZER_STARTS_THREADS

extern "C" {
[[gnu::visibility("default")]] int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                                                  void* (*function)(void*), void* argument) noexcept {
  static const auto create = distrun::rank::libc_function<decltype(pthread_create)>("pthread_create");
  if (create == nullptr) return EAGAIN;
  const auto call = [&](void* (*first)(void*), void* given) { return create(thread, attributes, first, given); };
  return distrun::rank::with_stack(function, argument, call);
}

[[gnu::visibility("default")]] int thrd_create(thrd_t* thread, int (*function)(void*), void* argument) {
  static const auto create = distrun::rank::libc_function<decltype(thrd_create)>("thrd_create");
  if (create == nullptr) return thrd_error;
  const auto call = [&](int (*first)(void*), void* given) { return create(thread, first, given); };
  return distrun::rank::with_stack(function, argument, call);
}
}

#endif
