#pragma once
// Which workers of an elastic group a worker knows. It is told of joins, leaves and losses in any order, some of them
// late, and of some more than once; it has no threads and sends nothing, so that a test drives it through every order
// (tests/unit/rpc/roster_test.cpp).
//
//   - It knows one worker of an id, and one of a name: the one that has joined last (Member::order).
//   - What is told of the end of a worker is of that incarnation, and leaves later ones.
#include <map>
#include <optional>
#include <vector>

#include <distrun/runtime/rpc/session/detail/member.hpp>

namespace distrun::rpc {

bool is_same_member(const Member& one, const Member& other) noexcept;

// One thread at a time.
class Roster {
 public:
  // Whether it is known, or is to be left out: it was removed, or a later one has its place.
  bool has(const Member& member) const;
  // Those whose place that one takes, which is not has(). They are to be removed before it is added.
  std::vector<Member> predecessors_of(const Member& member) const;
  void add(const Member& member) { known_.insert_or_assign(member.id, member); }

  std::optional<Member> find(WorkerKey key) const;
  // False: it was not known. It is not added from now on.
  bool remove(WorkerKey key);
  const std::map<WorkerId, Member>& known() const noexcept { return known_; }

 private:
  std::map<WorkerId, Member> known_;
  std::map<WorkerId, Incarnation> removed_;  // the latest that were
};

}  // namespace distrun::rpc
