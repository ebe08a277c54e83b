#pragma once
// Shared by tests of dense and of sparse tensors: calls in all modes, and passes compared with a pass on one worker.
//
//   verify_in_modes(rank, {ExecMode::Local, ExecMode::RpcSync}, {a, b},
//                   [&](Exec& exec) { return TensorList{sum(exec("matmul", a, b))}; });
#include <functional>
#include <type_traits>

#include <distrun/runtime/rpc/functions/operators.hpp>
#include <distrun/runtime/rpc/graph/run.hpp>

#include "suites.hpp"
#include "support/autograd_graphs.hpp"

namespace distrun::suites {

enum class ExecMode : std::uint8_t { Local, RpcSync, Remote, RpcAsync };

namespace detail {

// `callable` is the name of an operator, a function, or a graph.
template <class T, class Callable, class... Passed>
T call_here(const Callable& callable, const Passed&... passed) {
  if constexpr (std::is_function_v<std::remove_pointer_t<Callable>>) {
    return callable(passed...);
  } else if constexpr (std::is_same_v<Callable, Graph>) {
    return rpc::from_value<T>(rpc::run_graph(*callable, {rpc::to_value(passed)...}));
  } else {
    return rpc::from_value<T>(rpc::run_operator(callable, rpc::ValueList{rpc::to_value(passed)...}));
  }
}

}  // namespace detail

// A local call ignores `worker`.
template <class T = Tensor, class Callable, class... Passed>
T call_in_mode(ExecMode mode, const std::string& worker, Callable callable, const Passed&... passed) {
  switch (mode) {
    case ExecMode::Local: return detail::call_here<T>(callable, passed...);
    case ExecMode::RpcSync: return rpc_sync<T>(worker, callable, passed...);
    case ExecMode::Remote: return remote<T>(worker, callable, passed...).to_here();
    case ExecMode::RpcAsync: return rpc_async<T>(worker, callable, passed...).wait();
  }
  throw Error(ErrorKind::InvalidArgument, "ValueError", "no such way to call");
}

// Calls the other workers in turn, beginning with the next in the ring; local calls count as well.
class Exec {
 public:
  explicit Exec(const Rank& rank) : rank_(rank) {}

  ExecMode mode() const noexcept { return mode_; }
  void use(ExecMode mode) noexcept { mode_ = mode; }
  // Returns the target of the next call.
  std::string next() { return next_worker(rank_, 1 + calls_++ % (rank_.world_size() - 1)); }

  template <class T = Tensor, class Callable, class... Passed>
  T run(Callable callable, const Passed&... passed) {
    return call_in_mode<T>(mode_, next(), callable, passed...);
  }
  template <class Callable, class... Passed>
  Tensor operator()(Callable callable, const Passed&... passed) {
    return run<Tensor>(callable, passed...);
  }

 private:
  const Rank& rank_;
  ExecMode mode_ = ExecMode::Local;
  int calls_ = 0;
};

// Local: runs a pass on this worker, which sets grad() of the leaves. Otherwise runs a distributed pass, after which
// the context must have the same gradients of `arguments`, and no others.
void verify_pass(ExecMode mode, ContextId context, const TensorList& roots, const TensorList& arguments,
                 dist_autograd::BackwardOptions options = {});

// Modes in which the callee is done before the next call begins.
inline const std::vector<ExecMode> kInTurn{ExecMode::Local, ExecMode::RpcSync, ExecMode::Remote};

// Runs each mode with a new context. The first mode must be Local: the others are compared with it.
template <class MakeRoots>
void verify_in_modes(const Rank& rank, const std::vector<ExecMode>& modes, const TensorList& arguments,
                     const MakeRoots& make_roots, dist_autograd::BackwardOptions options = {}) {
  Exec exec(rank);
  for (const ExecMode mode : modes) {
    exec.use(mode);
    const dist_autograd::ContextScope context;
    verify_pass(mode, context.id(), make_roots(exec), arguments, options);
  }
}

// Checks that the context has that gradient of the leaf.
void expect_gradient(ContextId context, const Tensor& leaf, const Tensor& expected);

struct Pair {
  Tensor t1, t2;
};
Pair ones_and_zeros(bool requires_grad = true);
Pair random_pair();
Pair sparse_pair(bool requires_grad = true);

// Called on all ranks. `call` calls each other rank in a context, which must be released everywhere when it ends.
void expect_contexts_cleaned_up(Rank& rank, const std::function<void(const std::string& to)>& call);

// Called on all ranks. The rank serves its value, on which the three others train concurrently, each in a new context.
using Trainer = void (*)(RRef<Tensor> rref_t1, Tensor t2, std::string ps, std::int64_t rank_diff, bool sparse);
void expect_trained(Rank& rank, Trainer trainer, const RRef<Tensor>& own, const Pair& pair);

}  // namespace distrun::suites
