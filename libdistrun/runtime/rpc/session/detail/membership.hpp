#pragma once
// How the workers of a group of fixed size meet: each writes its description into the store, and reads the others'.
//
// Each attempt to meet is a round with separate keys. A round is met by all workers or by none: a worker that gives up
// writes a mark in place of each absent worker. The others find the mark, and go on in the next round. So do workers
// that arrive later, for example after an attempt that failed before it reached the store.
#include <functional>
#include <string>
#include <vector>

#include <distrun/common/base/location.hpp>
#include <distrun/runtime/core/wait.hpp>
#include <distrun/runtime/rpc/session/detail/member.hpp>

namespace distrun::rpc {

struct StaticGroup {
  std::shared_ptr<Store> store;  // of this round only
  int world_size = 1;
  bool serves = false;                        // this rank serves the store, and stays until all have read it
  base::TimePoint deadline = core::kForever;  // of the wait for the others, unless the store's timeout is earlier
  std::string given_up = {};         // why the round before was not met; empty: it was met, or this is the first
  std::function<void()> enter = {};  // called before the worker shows itself: the round counts for it from then on
};

// The outcome of a round.
struct Met {
  std::vector<Member> members;  // all, by id
  std::string given_up;         // "given up by worker2, which waited for rank 0", and no members; empty: all have met
};

// Meets in a round. Throws Error{Failed} for a duplicate id or name, Error{InvalidArgument, "ValueError"} for
// invalid device maps or a different world size, Error{Timeout} with the ranks that have not arrived, base::PeerFailed.
Met meet_all(const StaticGroup& group, Member self, base::Location site);
// Removes the keys that the member wrote in a round. No rank reads them once all have met in the next round.
void forget_meeting(Store& store, WorkerId self, base::Location site);

}  // namespace distrun::rpc
