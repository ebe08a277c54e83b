#include <catch2/catch.hpp>

#include "qualified_name.hpp"
#include "wait_functions.hpp"

using namespace distrun;
using namespace distrun::probe;
using wire::WaitObject;

namespace {

using Functions = std::vector<std::string>;

// Returns the qualified names of demangled functions.
Functions qualified(const Functions& functions) {
  Functions names;
  for (const std::string& function : functions) names.push_back(qualified_name(function));
  return names;
}

WaitObject in_runtime(const Functions& functions) { return wait_in_runtime(qualified(functions)).object; }
WaitObject in_library(const Functions& functions) { return wait_in_library(qualified(functions)).object; }

}  // namespace

TEST_CASE("functions of the C and C++ libraries tell what a futex belongs to") {
  CHECK(in_runtime({"__lll_lock_wait", "pthread_mutex_lock"}) == WaitObject::Mutex);
  CHECK(in_runtime({"__futex_abstimed_wait_common64", "pthread_rwlock_rdlock"}) == WaitObject::ReadWriteLock);
  CHECK(in_runtime({"__futex_abstimed_wait_common64", "pthread_cond_wait", "std::condition_variable::wait(std::x&)"}) ==
        WaitObject::ConditionVariable);
  CHECK(in_runtime({"do_futex_wait.constprop.0", "__new_sem_wait_slow64.constprop.0"}) == WaitObject::Semaphore);
  CHECK(in_runtime({"pthread_barrier_wait"}) == WaitObject::Barrier);
  CHECK(in_runtime({"syscall", "std::__atomic_futex_unsigned_base::_M_futex_wait_until(unsigned*)"}) ==
        WaitObject::Future);
  CHECK(in_runtime({"syscall", "__cxa_guard_acquire"}) == WaitObject::StaticGuard);
  CHECK(in_runtime({"__pthread_clockjoin_ex", "std::thread::join()"}) == WaitObject::ThreadEnd);
}

TEST_CASE("the caller decides if it knows better than the callee") {
  const Functions atomic{"syscall", "std::__detail::__platform_wait<int>(int const*, int)",
                         "void std::__atomic_wait_address<long>(long const*, long)"};
  const auto called_by = [&](const std::string& caller) {
    Functions functions = atomic;
    functions.push_back(caller);
    return in_runtime(functions);
  };
  CHECK(in_runtime(atomic) == WaitObject::AtomicWait);
  CHECK(called_by("std::latch::wait() const") == WaitObject::Latch);
  CHECK(called_by("std::barrier<std::__empty_completion>::arrive_and_wait()") == WaitObject::Barrier);
  CHECK(called_by("std::counting_semaphore<4l>::acquire()") == WaitObject::Semaphore);
  CHECK(called_by("std::atomic<int>::wait(int, std::memory_order) const") == WaitObject::AtomicWait);
}

TEST_CASE("a condition variable that takes its mutex again waits for the mutex") {
  CHECK(in_runtime({"__lll_lock_wait", "__pthread_mutex_cond_lock", "pthread_cond_wait"}) == WaitObject::Mutex);
}

TEST_CASE("a future that joins its thread waits for the end of the thread") {
  CHECK(in_runtime({"__pthread_clockjoin_ex", "std::thread::join()", "__pthread_once_slow",
                    "std::__future_base::_Async_state_commonV2::_M_join()", "std::future<void>::get()"}) ==
        WaitObject::ThreadEnd);
}

TEST_CASE("locks of the C library are named by what they protect") {
  CHECK(wait_in_runtime({"lll_lock_wait", "pthread_mutex_lock", "dl_open", "dlopen"}).name == "the lock of the loader");
  CHECK(wait_in_runtime({"lll_lock_wait_private", "malloc", "dlopen"}).name == "the lock of malloc()");
  CHECK(wait_in_runtime({"lll_lock_wait_private", "run_exit_handlers", "exit"}).name == "the lock of exit()");
  CHECK(wait_in_runtime({"lll_lock_wait_private", "fputs"}).name == "a lock inside fputs()");
}

TEST_CASE("a user's own futex is of no known kind") {
  CHECK(in_runtime({"syscall"}) == WaitObject::None);
  CHECK(in_runtime({}) == WaitObject::None);
}

TEST_CASE("a thread in a synchronisation with a device, or in a communication library, is known by the entry") {
  CHECK(in_library({"poll", "", "cudaStreamSynchronize", "train()"}) == WaitObject::Device);
  CHECK(in_library({"sched_yield", "cuCtxSynchronize", "cudaDeviceSynchronize", "main"}) == WaitObject::Device);
  CHECK(in_library({"cudaEventSynchronize"}) == WaitObject::Device);
  CHECK(in_library({"", "cuMemFree_v2", "", "cudaFree", "main"}) == WaitObject::Device);
  CHECK(in_library({"poll", "ncclCommInitRank", "main"}) == WaitObject::Library);
  CHECK(in_library({"syscall", "gloo::transport::tcp::UnboundBuffer::waitRecv(int*)"}) == WaitObject::Library);
  CHECK(in_library({"opal_progress", "PMPI_Barrier", "main"}) == WaitObject::Library);
  CHECK(wait_in_library({"poll", "MPI_Recv", "main"}).name == "MPI: MPI_Recv()");
}

TEST_CASE("a thread of such a library that waits for work, and functions with similar names, are not in it") {
  CHECK(in_library({"poll", "ncclProxyService", "ncclInit"}) == WaitObject::None);
  CHECK(in_library({"epoll_wait", "gloo::transport::tcp::Loop::run()"}) == WaitObject::None);
  CHECK(in_library({"ncclean_up", "cudaGetDevice", "my_gloo::wait()"}) == WaitObject::None);
  CHECK(in_library({}) == WaitObject::None);
}

TEST_CASE("a wait in CUDA has the name of the function that the program calls") {
  CHECK(wait_in_library({"", "cuCtxSynchronize_v2", "libcudart_static_ff46", "cudaDeviceSynchronize", "step"}).name ==
        "a device: cudaDeviceSynchronize()");
  CHECK(wait_in_library({"cuEventSynchronize", "step"}).name == "an event of a stream: cuEventSynchronize()");
  CHECK(wait_in_library({"cuStreamSynchronize", "cudaStreamSynchronize", "ncclCommDestroy", "step"}).name ==
        "a stream: cudaStreamSynchronize()");
  CHECK(wait_in_library({"poll", "ncclGroupEnd", "cudaFree"}).name == "NCCL: ncclGroupEnd()");
}
