#pragma once
// The pipe agent of a rank that is struck: it does what the real one does, which is in it, but for what it is told to:
// it may tell a wrong address, and at a step of the agent, counted by what is asked of it and what it delivers, it
// calls back.
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <distrun/runtime/rpc/session/backends.hpp>

namespace distrun::rpc::testing {

enum class Step { Make, Address, AddWorker, Start, Send, Receive };

struct Script {
  std::string address;              // empty: its own
  std::function<void(Step)> reach;  // before each step; empty: nothing
};

// Of the process; while members are forked, one each.
Script& script();
// The backend "struck".
Backend struck_backend();

}  // namespace distrun::rpc::testing
