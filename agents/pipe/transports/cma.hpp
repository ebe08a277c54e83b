#pragma once
// The channel "cma": a receiver reads a tensor's memory directly out of the sender's process (process_vm_readv): one
// copy, and no help from the sender.
#include <cstddef>
#include <cstdint>

#include <agents/pipe/handshake.hpp>

namespace distrun::agents::pipe {

// Describes what must be equal at both ends: machine, pid namespace, user; and whether this process can read memory so,
// and permits being read. To permit it, it may have to let processes of this user trace it (prctl PR_SET_PTRACER).
Offer cma_offer();

// Reads `bytes` of process `pid` at `from`. Throws Error{Disconnected} if that process is gone, Error{Failed} if its
// memory can't be read there.
void read_remote(std::int32_t pid, std::uint64_t from, std::byte* to, std::size_t bytes);

}  // namespace distrun::agents::pipe
