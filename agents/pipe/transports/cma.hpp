#pragma once
// The channel "cma": a receiver reads a tensor's memory out of the sender's process by itself (process_vm_readv), one
// copy and no help from the sender.
#include <cstddef>
#include <cstdint>

#include <agents/pipe/handshake.hpp>

namespace distrun::agents::pipe {

// What must be the same at both ends: machine, pid namespace, user; and whether this process can read memory so, and
// lets itself be read. To let it, it may have to allow processes of this user to trace it (prctl PR_SET_PTRACER).
Offer cma_offer();

// `bytes` of process `pid` from `from` on. Throws Error{Disconnected} if that process is gone, Error{Failed} if its
// memory can't be read there.
void read_remote(std::int32_t pid, std::uint64_t from, std::byte* to, std::size_t bytes);

}  // namespace distrun::agents::pipe
