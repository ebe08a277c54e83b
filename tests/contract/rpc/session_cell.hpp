#pragma once
// A cell of the table of sessions: four ranks, processes without a runner, of which one is struck.
#include "members.hpp"
#include "session_table.hpp"

namespace distrun::rpc::testing {

struct SessionCell {
  Row row;
  int victim = 0;
  std::string folder;          // for the store
  int struck_at = -1;          // of its agent, at which it is struck, whatever the moment is; -1: the row says when
  std::string transport = "";  // empty: the best

  // Runs it: "1|init|0.12|done" of each other rank.
  Lines conduct() const;

 private:
  void be_victim(const Post& post) const;
  void be_other(int rank, const Post& post) const;
  void be_any(int rank, const Post& post) const;
  void init(int rank) const;
  void greet(int rank) const;
  void call_and_shut_down(int rank, const Post& post) const;
  void prepare() const;
  base::Nanoseconds call_limit() const;
  void shut_down(bool is_victim) const;
  [[noreturn]] void strike() const;
  bool is_misled() const { return row.fault >= Fault::NobodyAtAddress; }  // goes on, as the others do
  void wait_for_world_size() const;
};

}  // namespace distrun::rpc::testing
