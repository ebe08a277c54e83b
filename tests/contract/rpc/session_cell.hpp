#pragma once
// A cell of the table of sessions: four ranks, processes without a runner, one of which is struck.
#include "members.hpp"
#include "session_table.hpp"

namespace distrun::rpc::testing {

struct SessionCell {
  Row row;
  int victim = 0;
  std::string folder;          // for the store
  int struck_at = -1;          // strikes at this step of the agent; -1: at the row's moment
  std::string transport = "";  // empty: the best

  // Runs the cell; returns "1|init|0.12|done" for each other rank.
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
  bool is_misled() const { return row.fault >= Fault::NobodyAtAddress; }  // the victim goes on like the others
  void wait_for_world_size() const;
};

}  // namespace distrun::rpc::testing
