#pragma once
// The workers of an elastic group that one worker knows. News of joins, leaves and losses may arrive late, twice and in
// any order. The roster has no threads and sends nothing: a test drives it through every order of small groups
// (tests/unit/rpc/roster_test.cpp).
//
//   - For each id and for each name it keeps one worker: the one that joined last (Member::order).
//   - The end of a worker applies to that incarnation only.
#include <map>
#include <optional>
#include <vector>

#include <distrun/runtime/rpc/session/detail/member.hpp>

namespace distrun::rpc {

bool is_same_member(const Member& one, const Member& other) noexcept;

// One thread at a time.
class Roster {
 public:
  // Returns whether the member must not be added: it is known, was removed, or a later worker has its id or name.
  bool has(const Member& member) const;
  // Returns the known workers with the id or the name of a member that is about to be added. Remove them first.
  std::vector<Member> predecessors_of(const Member& member) const;
  void add(const Member& member) { known_.insert_or_assign(member.id, member); }

  std::optional<Member> find(WorkerKey key) const;
  // Returns whether it was known. Afterwards has() is true for it, so that a late join does not add it.
  bool remove(WorkerKey key);
  const std::map<WorkerId, Member>& known() const noexcept { return known_; }

 private:
  std::map<WorkerId, Member> known_;
  std::map<WorkerId, Incarnation> removed_;  // the latest one of each id
};

}  // namespace distrun::rpc
