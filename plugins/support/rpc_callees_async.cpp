// Callees with a future as result: no thread of the callee waits for it.
#include <mutex>

#include <distrun/rpc.hpp>
#include <distrun/tensors.hpp>

#include "rpc_callees.hpp"
#include "rpc_state.hpp"

namespace distrun::suites {
namespace {

// Adds up arriving tensors, and completes with the last one.
struct FanIn {
  FanIn(Tensor zero, std::int64_t expected) : total(std::move(zero)), left(expected) {}

  void add(const rpc::Value& part) {
    const std::lock_guard lock(mutex);
    const auto* const number = part.get_if<std::int64_t>();
    total = number != nullptr ? total + *number : total + rpc::from_value<Tensor>(part);
    if (--left == 0) out.set_result(total);
  }

  std::mutex mutex;
  Tensor total;
  std::int64_t left;
  Future<Tensor> out;
};

}  // namespace

Future<Tensor> async_raise_func() { throw Error(ErrorKind::Failed, "Expected error"); }
DISTRUN_RPC_ASYNC(async_raise_func)

Future<Tensor> async_add(std::string to, Tensor x, std::int64_t y) { return rpc_async<Tensor>(to, "add", x, y); }
DISTRUN_RPC_ASYNC(async_add, "to", "x", "y")

Future<std::int64_t> async_wait_for_value() { return *promise().here(); }
DISTRUN_RPC_ASYNC(async_wait_for_value)

Future<Tensor> async_add_with_future_ctor(std::string to, Tensor x, std::int64_t y, std::int64_t z) {
  const Future<Tensor> out;
  rpc_async<Tensor>(to, "add", x, y).add_done_callback([out, z](const Future<Tensor>& done) {
    out.set_result(done.wait() + z);
  });
  return out;
}
DISTRUN_RPC_ASYNC(async_add_with_future_ctor, "to", "x", "y", "z")

Future<Tensor> async_add_chained(std::string to, Tensor x, std::int64_t y, std::int64_t z) {
  return rpc_async<Tensor>(to, "add", x, y).then([z](const Future<Tensor>& done) { return done.wait() + z; });
}
DISTRUN_RPC_ASYNC(async_add_chained, "to", "x", "y", "z")

Future<Tensor> async_add_chained_multi(std::string to, Tensor x, std::int64_t num, std::int64_t step) {
  Future<Tensor> last = rpc_async<Tensor>(to, "add", x, 0);
  for (std::int64_t i = 0; i < num; ++i) {
    last = last.then([step](const Future<Tensor>& done) { return done.wait() + step; });
  }
  return last;
}
DISTRUN_RPC_ASYNC(async_add_chained_multi, "to", "x", "num", "step")

Future<Tensor> async_add_nested(std::string to, Tensor x, std::int64_t y, std::int64_t z) {
  return rpc_async(to, async_add, to, x, y).then([z](const Future<Tensor>& done) { return done.wait() + z; });
}
DISTRUN_RPC_ASYNC(async_add_nested, "to", "x", "y", "z")

Future<Tensor> async_add_multi_fanout(std::string to, Tensor x, std::int64_t num, std::int64_t step) {
  const auto sum = std::make_shared<FanIn>(zeros_like(x), num);
  for (std::int64_t i = 0; i < num; ++i) {
    const auto part = i == 0 ? rpc_async(to, "add", x, step) : rpc_async(to, "add", 0, step);
    part.add_done_callback([sum](const Future<rpc::Value>& done) { sum->add(done.wait()); });
  }
  return sum->out;
}
DISTRUN_RPC_ASYNC(async_add_multi_fanout, "to", "x", "num", "step")

}  // namespace distrun::suites
