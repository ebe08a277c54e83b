#pragma once
// Exact points of a process that uses the pipe: a system call, or an access to a page of its rings. The binary replaces
// accept4, recvmsg, sendmsg, recv and process_vm_readv by functions that behave like the kernel's; so a point is "after
// its Welcome is written", not "after some time".
#include <cstddef>
#include <functional>

namespace distrun::rpc::testing {

enum class Point {
  None,
  Accepts,        // before a connection is accepted
  ReadsGreeting,  // before a greeting is read
  HasGreeted,     // after a greeting is written
  HasReceived,    // after `bytes` received bytes
  HasSent,
  ReadsMemory,  // after half of a read from another process
  TouchesRing,  // an access in the middle of a ring that it reads or writes
  RunsCall,     // in a function that another worker calls; the function itself says so by reach()
};

// Calls `strike` once, on the thread that reaches the point, possibly in a signal handler.
void arm(Point point, std::function<void()> strike, std::size_t bytes = 0);
// Strikes if this point is armed.
void reach(Point point);
// The rings of the process's only link in shared memory, created by the other end.
enum class Ring { Reads, Writes };
void arm_ring(Ring ring, std::function<void()> strike);

// Faults to use as `strike`.
void cut_sockets() noexcept;            // shutdown(2) on every socket that has a peer
void write_junk_to_sockets() noexcept;  // to each of these sockets
void write_junk_over_rings() noexcept;  // over both positions; call find_rings() first
bool find_rings();                      // false: no rings

}  // namespace distrun::rpc::testing
