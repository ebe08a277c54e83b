#include "wait_functions.hpp"

#include <algorithm>
#include <cctype>
#include <string_view>

namespace distrun::probe {
namespace {

using enum wire::WaitObject;

struct Row {
  std::string_view function;  // ends with '*': any rest
  wire::WaitObject object;
  const char* name;
};

// clang-format off
constexpr Row kRuntime[] = {
    {"lll_lock_wait*", Mutex, "mutex"},
    {"pthread_mutex_lock*", Mutex, "mutex"},
    {"pthread_mutex_timedlock", Mutex, "mutex"},
    {"pthread_mutex_clocklock", Mutex, "mutex"},
    {"pthread_mutex_cond_lock*", Mutex, "mutex"},
    {"pthread_rwlock_*", ReadWriteLock, "read-write lock"},
    {"std::__shared_mutex_cv::*", ReadWriteLock, "std::shared_timed_mutex"},
    {"pthread_cond_*", ConditionVariable, "condition variable"},
    {"std::condition_variable::*", ConditionVariable, "condition variable"},
    {"std::_V2::condition_variable_any::*", ConditionVariable, "condition variable"},
    {"cnd_wait", ConditionVariable, "condition variable"},
    {"sem_wait*", Semaphore, "semaphore"},
    {"sem_timedwait*", Semaphore, "semaphore"},
    {"sem_clockwait*", Semaphore, "semaphore"},
    {"new_sem_*", Semaphore, "semaphore"},
    {"std::counting_semaphore::*", Semaphore, "std::counting_semaphore"},
    {"std::__atomic_semaphore::*", Semaphore, "std::counting_semaphore"},
    {"std::__platform_semaphore::*", Semaphore, "std::counting_semaphore"},
    {"pthread_barrier_wait", Barrier, "barrier"},
    {"std::barrier::*", Barrier, "std::barrier"},
    {"std::__tree_barrier::*", Barrier, "std::barrier"},
    {"std::__tree_barrier_base::*", Barrier, "std::barrier"},
    {"std::latch::*", Latch, "std::latch"},
    {"std::__atomic_futex_unsigned*", Future, "std::future"},
    {"std::__future_base::*", Future, "std::future"},
    {"std::__basic_future::*", Future, "std::future"},
    {"std::future::*", Future, "std::future"},
    {"std::shared_future::*", Future, "std::shared_future"},
    {"std::__atomic_wait*", AtomicWait, "std::atomic"},
    {"std::__atomic_base::wait", AtomicWait, "std::atomic"},
    {"std::__atomic_impl::wait", AtomicWait, "std::atomic"},
    {"std::__detail::__platform_wait*", AtomicWait, "std::atomic"},
    {"std::__detail::__waiter*", AtomicWait, "std::atomic"},
    {"std::atomic::wait", AtomicWait, "std::atomic"},
    {"std::atomic_flag::wait", AtomicWait, "std::atomic_flag"},
    {"pthread_join", ThreadEnd, "the end of a thread"},
    {"pthread_timedjoin_np", ThreadEnd, "the end of a thread"},
    {"pthread_clockjoin*", ThreadEnd, "the end of a thread"},
    {"std::thread::join", ThreadEnd, "the end of a thread"},
    {"std::jthread::*", ThreadEnd, "the end of a thread"},
    {"thrd_join", ThreadEnd, "the end of a thread"},
    {"cxa_guard_acquire", StaticGuard, "the initialisation of a static variable"},
    {"pthread_once*", StaticGuard, "std::call_once"},
    {"call_once", StaticGuard, "std::call_once"},
    {"std::call_once", StaticGuard, "std::call_once"},
    {"dl_*", LoaderLock, "the lock of the loader"},
    {"dlopen*", LoaderLock, "the lock of the loader"},
    {"dlmopen*", LoaderLock, "the lock of the loader"},
    {"dlclose*", LoaderLock, "the lock of the loader"},
    {"dlsym*", LoaderLock, "the lock of the loader"},
    {"dlvsym*", LoaderLock, "the lock of the loader"},
    {"dladdr*", LoaderLock, "the lock of the loader"},
    {"dlinfo*", LoaderLock, "the lock of the loader"},
    {"tls_get_addr*", LoaderLock, "the lock of the loader"},
    {"rtld_*", LoaderLock, "the lock of the loader"},
    {"malloc*", HeapLock, "the lock of malloc()"},
    {"free", HeapLock, "the lock of malloc()"},
    {"cfree", HeapLock, "the lock of malloc()"},
    {"calloc", HeapLock, "the lock of malloc()"},
    {"realloc", HeapLock, "the lock of malloc()"},
    {"memalign", HeapLock, "the lock of malloc()"},
    {"aligned_alloc", HeapLock, "the lock of malloc()"},
    {"posix_memalign", HeapLock, "the lock of malloc()"},
    {"libc_malloc*", HeapLock, "the lock of malloc()"},
    {"libc_calloc*", HeapLock, "the lock of malloc()"},
    {"libc_realloc*", HeapLock, "the lock of malloc()"},
    {"libc_free*", HeapLock, "the lock of malloc()"},
    {"int_malloc", HeapLock, "the lock of malloc()"},
    {"int_free", HeapLock, "the lock of malloc()"},
    {"arena_get*", HeapLock, "the lock of malloc()"},
    {"exit", Mutex, "the lock of exit()"},
    {"run_exit_handlers", Mutex, "the lock of exit()"},
    {"cxa_finalize", Mutex, "the lock of exit()"},
    {"cxa_atexit*", Mutex, "the lock of exit()"},
    {"internal_atexit", Mutex, "the lock of exit()"},
    {"new_exitfn", Mutex, "the lock of exit()"},
    {"on_exit", Mutex, "the lock of exit()"},
};

constexpr Row kLibraries[] = {
    {"cudaStreamSynchronize*", Device, "a stream"},
    {"cudaDeviceSynchronize*", Device, "a device"},
    {"cudaThreadSynchronize*", Device, "a device"},
    {"cudaEventSynchronize*", Device, "an event of a stream"},
    {"cudaMemcpy*", Device, "a device"},  // these wait for earlier work, or for room for theirs
    {"cudaMemset*", Device, "a device"},
    {"cudaMalloc*", Device, "a device"},
    {"cudaFree*", Device, "a device"},
    {"cudaHostAlloc", Device, "a device"},
    {"cudaLaunchKernel*", Device, "a device"},
    {"cudaDeviceReset", Device, "a device"},
    {"cuStreamSynchronize*", Device, "a stream"},
    {"cuCtxSynchronize*", Device, "a device"},
    {"cuEventSynchronize*", Device, "an event of a stream"},
    {"cuMemcpy*", Device, "a device"},
    {"cuMemset*", Device, "a device"},
    {"cuMemAlloc*", Device, "a device"},
    {"cuMemFree*", Device, "a device"},
    {"cuMemHostAlloc*", Device, "a device"},
    {"cuLaunchKernel*", Device, "a device"},
    {"hipStreamSynchronize*", Device, "a stream"},
    {"hipDeviceSynchronize*", Device, "a device"},
    {"hipEventSynchronize*", Device, "an event of a stream"},
    {"ncclProxy*", None, ""},  // threads of the library, which wait for work
    {"ncclRas*", None, ""},
    {"nccl*", Library, "NCCL"},
    {"pnccl*", Library, "NCCL"},
    {"gloo::transport::tcp::Loop::*", None, ""},
    {"gloo::transport::uv::libuv::*", None, ""},
    {"gloo::*", Library, "Gloo"},
    {"MPI_*", Library, "MPI"},
    {"PMPI_*", Library, "MPI"},
    {"ucp_*", Library, "UCX"},
};
// clang-format on

bool is_match(std::string_view function, std::string_view pattern) {
  if (!pattern.ends_with('*')) return function == pattern;
  return function.starts_with(pattern.substr(0, pattern.size() - 1));
}

template <std::size_t Count>
const Row* find_row(const Row (&rows)[Count], std::string_view function) {
  const Row* end = rows + Count;
  const Row* found = std::find_if(rows, end, [&](const Row& row) { return is_match(function, row.function); });
  return found == end ? nullptr : found;
}

bool is_library_lock(const Row& row) {
  const bool is_named_mutex = row.object == Mutex && std::string_view(row.name) != "mutex";
  return row.object == LoaderLock || row.object == HeapLock || is_named_mutex;
}

// The caller knows better what the callee waits for. But the lock that a condition variable takes again stays a mutex,
// and a future that joins its thread waits for the end of that thread.
bool replaces(const Row* callee, const Row& caller) {
  if (callee == nullptr) return true;
  switch (callee->object) {
    case Mutex: return !is_library_lock(*callee) && is_library_lock(caller);
    case AtomicWait:
    case StaticGuard:
    case ConditionVariable: return caller.object != Mutex && !is_library_lock(caller);
    case Semaphore:
    case Barrier:
    case Future: return callee->object == caller.object;  // a better name
    default: return false;
  }
}

bool takes_internal_lock(const std::vector<std::string>& functions) {
  return functions.size() > 1 && functions.front() == "lll_lock_wait_private";
}

// "nccl" also begins names of other things.
bool is_entry(std::string_view function, const Row& row) {
  const std::size_t stem = row.function.size() - 1;
  if (row.function != "nccl*" && row.function != "pnccl*") return true;
  return function.size() > stem && std::isupper(static_cast<unsigned char>(function[stem])) != 0;
}

}  // namespace

WaitFunction wait_in_runtime(const std::vector<std::string>& functions) {
  const Row* found = nullptr;
  for (const std::string& function : functions) {
    const Row* row = find_row(kRuntime, function);
    if (row != nullptr && replaces(found, *row)) found = row;
  }
  if (found == nullptr) return {};
  // A lock of the C library itself, such as that of a FILE.
  const bool is_internal = found->object == Mutex && !is_library_lock(*found) && takes_internal_lock(functions);
  if (is_internal && !functions.back().empty()) return {Mutex, "a lock inside " + functions.back() + "()"};
  return {found->object, found->name};
}

// Users know the names of CUDA's runtime, which calls CUDA's driver: the outermost function of both counts.
WaitFunction wait_in_library(const std::vector<std::string>& functions) {
  const Row* found = nullptr;
  std::string_view entry;
  for (const std::string& function : functions) {
    const Row* row = find_row(kLibraries, function);
    if (row == nullptr || !is_entry(function, *row)) continue;
    if (found != nullptr && (found->object != Device || row->object != Device)) break;
    found = row;
    entry = function;
  }
  if (found == nullptr || found->object == None) return {};
  return {found->object, std::string(found->name) + ": " + std::string(entry) + "()"};
}

bool is_standard_function(const std::string& qualified) {
  return qualified.starts_with("std::") || qualified.starts_with("__gnu_cxx::") || qualified.starts_with("__gthread_");
}

}  // namespace distrun::probe
