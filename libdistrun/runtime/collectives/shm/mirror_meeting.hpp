#pragma once
// How the ranks of a group on several hosts find and connect each other: each listens at its host's address
// (core/hosts.hpp) and says where in the group's store; of two ranks the one with the larger group rank connects. Both
// prove that they know the group's secret, which is in the store, as common/proof/proof.hpp says:
//
//   connector   kGreeting, its nonce
//   listener    its nonce, its proof
//   connector   its proof, its group rank (4 bytes)
#include <string>
#include <vector>

#include <distrun/common/base/fd.hpp>
#include <distrun/runtime/collectives/call.hpp>
#include <distrun/runtime/store/store.hpp>

namespace distrun::collectives::shm {

// A rank of the group, as another rank reaches it.
struct FarRank {
  base::Fd socket;  // does not block; none for this rank itself
  std::string host;
  int pid = 0;  // of its process, on its host
};

// Connects this rank to all others, and returns them by group rank. `hosts` are the names of the ranks' hosts. Throws
// what the store throws, Error{Failed} if this rank cannot listen, Error{Timeout} and base::PeerFailed naming the
// absent ranks.
std::vector<FarRank> connect_ranks(Store& store, const GroupInfo& group, const std::vector<std::string>& hosts,
                                   base::TimePoint deadline);

}  // namespace distrun::collectives::shm
