#pragma once
// Who is in a group where workers come and go: a log in the store. Each worker appends that it joins and that it
// leaves; of one that has died, others append that it is gone. So no lock is there with which a worker could die. The
// order of the log is that in which workers have joined.
//
// A worker is known by its id and its incarnation, which counts the workers that have had the id. What was appended of
// one incarnation says nothing about the next one.
//
// The log is written anew, with those that are there, when most of it is about workers that are gone.
#include <memory>
#include <vector>

#include <distrun/runtime/rpc/session/detail/roster.hpp>

namespace distrun::rpc {

// Any thread. Throws what the store throws.
class MemberLog {
 public:
  explicit MemberLog(std::shared_ptr<Store> store) : store_(std::move(store)) {}

  // What tells a worker of that id, which is about to join, from all others.
  struct Turn {
    Incarnation incarnation = 0;
    std::int64_t order = 0;
  };
  static Turn next_turn(Store& store, WorkerId id);

  void add(const Member& member);
  // It has left, or has died. Does nothing if it is not there.
  void remove(const Member& member);
  std::vector<Member> members();
  bool contains(const Member& member);

 private:
  void compact(const std::string& log, const std::vector<Member>& present);

  const std::shared_ptr<Store> store_;
};

}  // namespace distrun::rpc
