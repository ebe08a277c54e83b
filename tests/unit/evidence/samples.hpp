#pragma once
// Typical stacks of hangs, for tests, the fuzzer's corpus and the benchmark.
#include <string>
#include <vector>

#include <distrun/runner/evidence/stacks/stacks.hpp>

namespace distrun::evidence::samples {

using Frames = std::vector<wire::StackFrame>;  // innermost first

wire::StackFrame user(const std::string& function, const std::string& file, std::uint32_t line);
wire::StackFrame library(const std::string& function);    // of libc, without a file
wire::StackFrame machinery(const std::string& function);  // of distrun-rank

Frames operator+(Frames inner, const Frames& outer);

Frames under_rank_main();     // the frames below every test's body
Frames under_thread_start();  // the frames below a thread's function
Frames in_futex();            // called by a condition variable
Frames in_barrier();          // the SDK's, down to the futex

// A thread that waits in a futex by default.
class ThreadSample {
 public:
  ThreadSample(int tid, std::string name, Frames frames);
  ThreadSample& waits_in(const std::string& call);
  ThreadSample& waits_for(const std::string& what);
  ThreadSample& moves(wire::Motion motion, char state);
  ThreadSample& observes(wire::WaitObject object, const std::string& name, std::vector<wire::WaitEnder> enders);
  wire::ThreadStack thread;
  Frames frames;
};

// Adds one process's threads as a probe reports them. Addresses differ between processes, as in reality.
void add_process(Stacks& stacks, int rank, int pid, std::vector<ThreadSample> threads);
ThreadSample listener(int tid);  // distrun's thread in every rank

Stacks one_in_read();  // rank 2 reads, and three ranks wait for it in a barrier
Stacks abba();         // two threads of rank 0, each with the other's lock
// Threads of rank 0 in the same function: three in a cycle of mutexes, and three that wait for the first of them.
Stacks lock_cycle();
Stacks one_spins();
Stacks one_in_kernel();  // state D, only the kernel's stack
Stacks alike(int ranks, int threads);
Stacks all_different();
Stacks recursion();
Stacks inlined();
Stacks stripped();
Stacks hostile();
Stacks without_answers();  // a crash, a gap, a missing end, a process that did not answer

}  // namespace distrun::evidence::samples
