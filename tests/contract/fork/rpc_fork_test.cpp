// RPC in a forked process of a rank.
#include <catch2/catch.hpp>

#include <condition_variable>
#include <mutex>
#include <set>

#include <distrun/dist_autograd.hpp>
#include <distrun/runtime/store/file_store.hpp>

#include "../rpc/struck_agent.hpp"
#include "forked_uses.hpp"

namespace distrun::testing {
namespace {

using dist_autograd::ContextScope;

int fork_add(int a, int b) { return a + b; }
DISTRUN_RPC(fork_add)
Tensor fork_twice(const Tensor& a) { return add(a, a); }
DISTRUN_RPC(fork_twice)

// A call that is answered only after another one has arrived.
struct Released {
  std::mutex mutex;
  std::condition_variable changed;
  bool is_released = false;
};
Released& released() {
  static auto* const only = new Released;
  return *only;
}
int fork_wait_for_release() {
  std::unique_lock lock(released().mutex);
  released().changed.wait_for(lock, std::chrono::seconds(60), [] { return released().is_released; });
  return 7;
}
DISTRUN_RPC(fork_wait_for_release)
void fork_release() {
  const std::lock_guard lock(released().mutex);
  released().is_released = true;
  released().changed.notify_all();
}
DISTRUN_RPC(fork_release)

void require(bool is_true, const std::string& what) {
  if (!is_true) throw Error(ErrorKind::Failed, what);
}

void join_session(int rank, const std::string& folder) {
  auto options = std::make_shared<rpc::PipeOptions>();
  options->transports = {"shm"};
  options->rpc_timeout = 30;
  options->store = std::make_shared<FileStore>(folder + "/store");
  rpc::init_rpc({"worker" + std::to_string(rank), rpc::testing::struck_backend(), rank, 2, options});
}

// Objects of the session at rank 0.
struct Held {
  RRef<int> sum = remote(1, fork_add, 1, 2);
  RRef<int> own{5};
  future::Future<int> pending = rpc_async(1, fork_wait_for_release);
  std::unique_ptr<ContextScope> context = std::make_unique<ContextScope>();
  Tensor leaf = set_requires_grad(ones({2}));
  Tensor root = sum_of(rpc_sync(1, fork_twice, leaf));

  static Tensor sum_of(const Tensor& tensor) { return distrun::sum(tensor); }
};

std::vector<Use> session_uses(const std::shared_ptr<Held>& held) {
  const std::set<std::string> all{"worker0", "worker1"};
  return {
      {"rpc_sync", [] { rpc_sync(1, fork_add, 1, 2); }},
      {"rpc_sync to itself", [] { rpc_sync(0, fork_add, 1, 2); }},
      {"rpc_async", [] { rpc_async(1, fork_add, 1, 2).wait(); }},
      {"barrier", [all] { rpc::barrier(all); }},
      {"all_gather", [] { rpc::all_gather(rpc::to_value(1)); }},
      {"wait_all_workers", [] { rpc::wait_all_workers(); }},
      {"get_worker_info", [] { rpc::get_worker_info("worker1"); }},
      {"debug_info", [] { rpc::debug_info(); }},
      {"set_rpc_timeout", [] { rpc::set_rpc_timeout(1); }},
      {"is_initialized", [] { require(!rpc::is_initialized(), "RPC is initialized"); }, true},
      {"init_rpc", [] { join_session(0, "/tmp"); }},
      {"shutdown", [] { rpc::shutdown(); }},
      {"shutdown that is not graceful", [] { rpc::shutdown({.graceful = false}); }},
      {"wait for an answer that has not come", [held] { held->pending.wait(); }},
      {"then() on it", [held] { held->pending.then([](const auto&) { return 1; }).wait(); }},
  };
}

std::vector<Use> reference_uses(const std::shared_ptr<Held>& held) {
  return {
      {"remote", [] { remote(1, fork_add, 1, 2); }},
      {"a reference to a value", [] { RRef<int>(3); }},
      {"to_here", [held] { held->sum.to_here(); }},
      {"to_here of its own value", [held] { require(held->own.to_here() == 5, "it has another value"); }, true},
      {"type of a reference", [held] { held->sum.type(); }},
      {"copies of a reference", [held] { const RRef<int> copy = held->sum; }, true},
      {"a context", [] { const ContextScope context; }},
      {"current_context", [] { dist_autograd::current_context(); }},
      {"backward", [held] { dist_autograd::backward(held->context->id(), {held->root}); }},
      {"get_gradients", [held] { dist_autograd::get_gradients(held->context->id()); }},
      {"release_context", [held] { dist_autograd::release_context(held->context->id()); }},
  };
}

void use_session(Held& held) {
  require(held.sum.to_here() == 3, "the reference has another value");
  rpc_sync(1, fork_release);
  require(held.pending.wait() == 7, "the call has another result");
  dist_autograd::backward(held.context->id(), {held.root});
  const auto gradients = dist_autograd::get_gradients(held.context->id());
  require(!tensor::difference(gradients.at(held.leaf), full({2}, 2)), "the gradient is wrong");
}

Opened open_rpc(int rank, const std::string& folder, std::vector<Use> (*uses)(const std::shared_ptr<Held>&)) {
  join_session(rank, folder);
  if (rank != 0) return {{}, [] {}, [] { rpc::shutdown({.timeout = 30}); }};
  const auto held = std::make_shared<std::shared_ptr<Held>>(std::make_shared<Held>());
  (*held)->sum.to_here();
  return {uses(*held), [held] { use_session(**held); },
          [held] {
            held->reset();
            rpc::shutdown({.timeout = 30});
          }};
}

TEST_CASE("a forked process cannot use the RPC session of its parent, and does not change it") {
  check_children([](int rank, const std::string& folder) { return open_rpc(rank, folder, session_uses); });
}

TEST_CASE("a forked process cannot use references and autograd contexts of its parent, and releases none") {
  check_children([](int rank, const std::string& folder) { return open_rpc(rank, folder, reference_uses); });
}

}  // namespace
}  // namespace distrun::testing
