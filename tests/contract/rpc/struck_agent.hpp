#pragma once
// The pipe agent of the victim: it wraps the real one and follows a script. It can report a wrong address, and call
// back at a step of the agent, counted by requests to it and deliveries from it.
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <distrun/runtime/rpc/session/backends.hpp>

namespace distrun::rpc::testing {

enum class Step { Make, Address, AddWorker, Start, Send, Receive };

struct Script {
  std::string address;              // empty: the real one
  std::function<void(Step)> reach;  // called before each step unless empty
};

// Returns the process's script; forked members have one each.
Script& script();
// Returns the backend "struck".
Backend struck_backend();

}  // namespace distrun::rpc::testing
