#pragma once
// The members of an elastic group, as a log in the store. A worker appends an entry when it joins and another when it
// leaves; if it dies, other workers append the second. There is no lock that a dying worker could keep. Entries are in
// the order in which workers joined.
//
// An entry names a worker by id and incarnation, and says nothing about other incarnations.
//
// When most entries are about workers that have left, the log is rewritten with the present members only.
#include <memory>
#include <vector>

#include <distrun/runtime/rpc/session/detail/roster.hpp>

namespace distrun::rpc {

// Thread-safe. Throws what the store throws.
class MemberLog {
 public:
  explicit MemberLog(std::shared_ptr<Store> store) : store_(std::move(store)) {}

  // Numbers that no other worker gets: within its id, and within the group.
  struct Turn {
    Incarnation incarnation = 0;
    std::int64_t order = 0;
  };
  // Call it once for each worker that is about to join.
  static Turn next_turn(Store& store, WorkerId id);

  void add(const Member& member);
  // Appends that the worker has left or died. Does nothing if it is not a member.
  void remove(const Member& member);
  std::vector<Member> members();
  bool contains(const Member& member);

 private:
  void compact(const std::string& log, const std::vector<Member>& present);

  const std::shared_ptr<Store> store_;
};

}  // namespace distrun::rpc
