#include "rref_callees_async.hpp"

#include <chrono>
#include <thread>

#include <distrun/common/base/deadline.hpp>
#include <distrun/rpc.hpp>
#include <distrun/tensors.hpp>

#include "rpc_state.hpp"

namespace distrun::suites {
namespace {

using namespace std::chrono_literals;
using rpc::Execution;
using rpc::RegisterClass;

constexpr auto kRest = 100ms;
constexpr double kAskSeconds = 5;
constexpr int kRows = 10;
constexpr int kRounds = 10;

PerRank<std::optional<RRef<rpc::Value>>>& global_rref() {
  static PerRank<std::optional<RRef<rpc::Value>>> all;
  return all;
}

void sleep_for(double seconds) { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); }

// `look` returns what is still missing, "had ..."; empty: nothing.
template <class Look>
void poll(double timeout, const std::string& what, Look look) {
  const auto end = base::deadline_after(base::nanoseconds_of(timeout));
  for (;;) {
    const std::string missing = look();
    if (missing.empty()) return;
    if (std::chrono::steady_clock::now() >= end) {
      throw Error(ErrorKind::Timeout, "ValueError", "Timed out waiting " + what + ", " + missing);
    }
    std::this_thread::sleep_for(kRest);
  }
}

[[maybe_unused]] const auto kSlowClass =
    RegisterClass<SlowClass>("SlowClass")
        .constructor<Tensor, bool>({"a", "delay"})
        .method("my_instance_method", &SlowClass::my_instance_method, {"b"})
        .method("my_slow_method", &SlowClass::my_slow_method, {"b"})
        .by_value([](const SlowClass& object) { return object.a; }, [](Tensor a) { return SlowClass(std::move(a)); });

[[maybe_unused]] const auto kAsyncTensorClass =
    RegisterClass<AsyncTensorClass>("AsyncTensorClass")
        .constructor<>()
        .static_method<Execution::Async>("static_async_add", &AsyncTensorClass::static_async_add, {"to", "x", "y", "z"})
        .class_method<Execution::Async>("class_async_add", &AsyncTensorClass::class_async_add, {"to", "x", "y", "z"})
        .method<Execution::Async>("bound_async_add", &AsyncTensorClass::bound_async_add, {"to", "x", "y", "z"});

[[maybe_unused]] const auto kParameterServer =
    RegisterClass<ParameterServer>("ParameterServer")
        .static_method("get_gradient", &ParameterServer::get_gradient, {"rref"})
        .static_method<Execution::Async>("average", &ParameterServer::average, {"rref", "iteration", "gradient"});

}  // namespace

void set_global_rref(RRef<rpc::Value> rref) { *global_rref().here() = std::move(rref); }
DISTRUN_RPC(set_global_rref, "rref")

void clear_global_rref() { global_rref().here()->reset(); }
DISTRUN_RPC(clear_global_rref)

bool check_rref_confirmed(RRef<Tensor> rref) { return rref.confirmed_by_owner(); }
DISTRUN_RPC(check_rref_confirmed, "rref")

Tensor raise_or_inc(Tensor value) {
  if (value.numel() == 2) throw Error(ErrorKind::InvalidArgument, "ValueError", "Expected error");
  return value + 1;
}
DISTRUN_RPC(raise_or_inc, "value")

Tensor slow_product(double seconds) {
  sleep_for(seconds);
  return full({}, 1) * full({}, 1);
}
DISTRUN_RPC(slow_product, "seconds")

std::map<std::string, std::string> get_rref_debug_info() { return rref::debug_info(); }
DISTRUN_RPC(get_rref_debug_info)

std::pair<std::string, std::string> get_num_owners_and_forks() {
  const auto info = rref::debug_info();
  return {info.at("num_owner_rrefs"), info.at("num_forks")};
}
DISTRUN_RPC(get_num_owners_and_forks)

void wait_until_references_settle(double timeout) {
  poll(timeout, "to flush pending futures and users", [] {
    const auto info = rref::debug_info();
    const std::string& futures = info.at("num_pending_futures");
    const std::string& users = info.at("num_pending_users");
    return futures == "0" && users == "0" ? "" : "had " + futures + " pending futures and " + users + " pending users";
  });
}

void wait_until_owners_and_forks(const std::string& worker, int owners, int forks, double timeout) {
  const std::string wanted = std::to_string(owners) + " owners and " + std::to_string(forks) + " forks on rank";
  const auto seconds = std::to_string(static_cast<int>(timeout));
  poll(timeout, seconds + " sec for " + wanted, [&] {
    const auto [had, of] = rpc_sync(to(worker).within(kAskSeconds), get_num_owners_and_forks);
    return had == std::to_string(owners) && of == std::to_string(forks) ? ""
                                                                        : "had " + had + " owners and " + of + " forks";
  });
}

SlowClass::SlowClass(Tensor tensor, bool delay) : a(std::move(tensor)) {
  if (delay) sleep_for(2);
}
Tensor SlowClass::my_instance_method(Tensor b) const { return a + b; }
Tensor SlowClass::my_slow_method(Tensor b) const {
  sleep_for(5);
  return a + b;
}

Future<Tensor> AsyncTensorClass::static_async_add(std::string to, Tensor x, Tensor y, Tensor z) {
  return rpc_async<Tensor>(to, "add", x, y).then([z](const Future<Tensor>& done) { return done.wait() + z; });
}
Future<Tensor> AsyncTensorClass::class_async_add(const rpc::ClassName& /*type*/, std::string to, Tensor x, Tensor y,
                                                 Tensor z) {
  const Future<Tensor> out;
  rpc_async<Tensor>(to, "add", x, y).add_done_callback([out, z](const Future<Tensor>& done) {
    out.set_result(done.wait() + z);
  });
  return out;
}
Future<Tensor> AsyncTensorClass::bound_async_add(std::string to, Tensor x, Tensor y, Tensor z) {
  return static_async_add(std::move(to), std::move(x), std::move(y), std::move(z));
}

Tensor ParameterServer::get_gradient(RRef<ParameterServer> rref) {
  const auto server = rref.local_value();
  const std::lock_guard lock(server->mutex_);
  return server->gradient_;
}

Future<Tensor> ParameterServer::average(RRef<ParameterServer> rref, std::int64_t iteration, Tensor gradient) {
  return rref.local_value()->add(iteration, gradient);
}

Future<Tensor> ParameterServer::add(std::int64_t iteration, const Tensor& gradient) {
  const Future<Tensor> mine;
  const std::lock_guard lock(mutex_);
  if (iteration > iteration_) {
    iteration_ = iteration;
    updates_ = 0;
    futures_.clear();
  }
  futures_.push_back(mine);
  total_ = total_.defined() ? total_ + gradient : gradient;
  if (++updates_ == trainers_) {
    gradient_ = total_ / static_cast<double>(trainers_);
    for (const auto& each : futures_) each.set_result(total_ / static_cast<double>(trainers_));
  }
  return mine;
}

void run_ps_trainer(RRef<ParameterServer> rref, bool sparse) {
  nn::EmbeddingBag model(kRows, kRows, {BagMode::Mean, sparse});
  const nn::MSELoss loss;
  for (std::int64_t i = 0; i < kRounds; ++i) {
    const Tensor out = model(to(rand({kRows, kRows}), tensor::DType::I64));
    backward(loss(out, rand({kRows, kRows})));
    const Tensor own = grad(model.weight());
    if (own.is_sparse() != sparse) throw Error(ErrorKind::Failed, "the gradient is of the other layout");
    Tensor mean = rref.rpc_async().call<Tensor>("average", rref, i, own).wait();
    Tensor kept = rref.rpc_sync().call<Tensor>("get_gradient", rref);
    if (sparse) {
      mean = to(to_dense(mean), tensor::DType::F64);
      kept = to(to_dense(kept), tensor::DType::F64);
    }
    const auto difference = tensor::difference(mean, kept, {.tolerance = tensor::Tolerance{}});
    if (difference) throw Error(ErrorKind::Failed, "in round " + std::to_string(i) + " of a trainer: " + *difference);
  }
}
DISTRUN_RPC(run_ps_trainer, "rref", "sparse")

}  // namespace distrun::suites
