#pragma once
// The store that the ranks of a test share without an address: a file that the runner has created for the attempt; a
// server of the runner if the ranks run on several hosts. $DISTRUN_STORE says where: a path, or
// "tcp://10.77.0.1:40123".
#include <memory>

#include <distrun/runtime/store/store.hpp>

namespace distrun::stores {

// Opens the store of the running test, which is empty when the attempt begins. Throws Error{Unimplemented} in a process
// that distrun has not started, Error{InvalidArgument} if $DISTRUN_STORE has no host or port, and what the constructors
// of FileStore and TcpStore throw; a server is waited for 30 seconds.
std::shared_ptr<Store> rank_store();

}  // namespace distrun::stores
