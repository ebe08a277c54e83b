#pragma once
// How the workers of a group of fixed size meet: each writes its description into the store, and reads the others'.
#include <vector>

#include <distrun/common/base/location.hpp>
#include <distrun/runtime/rpc/session/detail/member.hpp>

namespace distrun::rpc {

struct StaticGroup {
  std::shared_ptr<Store> store;  // of this round only
  int world_size = 1;
  bool serves = false;  // this rank serves the store, and stays until all have read it
};

// Returns all members, by id. Throws Error{Failed} for a duplicate id or name, Error{InvalidArgument, "ValueError"} for
// invalid device maps or a different world size, Error{Timeout} with the ranks that have not arrived, base::PeerFailed.
std::vector<Member> meet_all(const StaticGroup& group, Member self, base::Location site);
// Removes the keys that the member wrote in a round. No rank reads them once all have met in the next round.
void forget_meeting(Store& store, WorkerId self, base::Location site);

}  // namespace distrun::rpc
