#pragma once
// Exact points of a process that uses the pipe: a system call that it comes to, or a page of its rings that it touches.
// The binary has its own accept4, recvmsg, sendmsg, recv and process_vm_readv, which do what the kernel's do; so a
// point is "after its Welcome is written", not "after some time".
#include <cstddef>
#include <functional>

namespace distrun::rpc::testing {

enum class Point {
  None,
  Accepts,        // before a connection is taken
  ReadsGreeting,  // before it is read
  HasGreeted,     // a greeting is written
  HasReceived,    // so many bytes have come since
  HasSent,
  ReadsMemory,  // half of what it reads out of another process is there
  TouchesRing,  // the one that it reads, or writes, in the middle
};

// Once: `strike` is called by the thread that comes there, perhaps in the handler of a signal.
void arm(Point point, std::function<void()> strike, std::size_t bytes = 0);
// The rings of the process's only link in shared memory, of which the other end is the maker.
enum class Ring { Reads, Writes };
void arm_ring(Ring ring, std::function<void()> strike);

// What may be done there, as the fault of whoever comes.
void cut_sockets() noexcept;            // shutdown(2) on every socket that has a peer
void write_junk_to_sockets() noexcept;  // to each of them
void write_junk_over_rings() noexcept;  // over both positions; the rings must have been found by find_rings()
bool find_rings();                      // false: there are none

}  // namespace distrun::rpc::testing
