#pragma once
// How the workers of a group of a fixed size get to know each other: each writes into the store who it is, and reads
// who the others are.
#include <vector>

#include <distrun/common/base/location.hpp>
#include <distrun/runtime/rpc/session/detail/member.hpp>

namespace distrun::rpc {

struct StaticGroup {
  std::shared_ptr<Store> store;  // of this round alone
  int world_size = 1;
  bool serves = false;  // this rank serves the store, and stays until all have read it
};

// All members, by id. Throws Error{Failed} for an id or a name that two have, Error{InvalidArgument, "ValueError"} for
// device maps that can't be, or another world size; Error{Timeout} with the ranks that have not come; base::PeerFailed.
std::vector<Member> meet_all(const StaticGroup& group, Member self, base::Location site);
// Removes what that member has written in a round. No rank reads it once all have met in the next round.
void forget_meeting(Store& store, WorkerId self, base::Location site);

}  // namespace distrun::rpc
