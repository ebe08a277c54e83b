#include "program.hpp"

#include <map>
#include <mutex>

#include "autograd_ranks.hpp"

namespace distrun::dist_autograd {

// A leaf of each worker, recreated for each program.
class Weights {
 public:
  Tensor of(const core::RankState* rank, std::uint32_t seed, int worker) {
    const std::lock_guard lock(mutex_);
    auto& [made_for, weight] = all_[rank];
    if (!weight.defined() || made_for != seed) {
      weight = set_requires_grad(full({3, 3}, 0.5 + worker + seed % 7, {tensor::DType::F64, {}}));
      made_for = seed;
    }
    return weight;
  }

 private:
  std::mutex mutex_;
  std::map<const core::RankState*, std::pair<std::uint32_t, Tensor>> all_;
};
Weights& weights() {
  static auto* const all = new Weights;
  return *all;
}

Tensor own_weight(std::int64_t seed) {
  return weights().of(&core::rank_state(), static_cast<std::uint32_t>(seed), rpc::get_worker_info().id());
}

Tensor compute(const std::string& op, const TensorList& of) {
  if (op == "add") return add(of[0], of[1]);
  if (op == "sub") return sub(of[0], of[1]);
  if (op == "mul") return mul(of[0], of[1]);
  if (op == "mm") return mm(of[0], of[1]);
  if (op == "cos") return cos(of[0]);
  if (op == "sigmoid") return sigmoid(of[0]);
  return to_dense(of[0]);
}

Tensor program_call(const std::string& to, const std::string& op, const TensorList& of) {
  return of.size() == 1 ? rpc::rpc_sync<Tensor>(to, op, of[0]) : rpc::rpc_sync<Tensor>(to, op, of[0], of[1]);
}
Tensor program_weighted(const std::string& op, const TensorList& of, std::int64_t seed) {
  return compute(op, of) * own_weight(seed);
}
std::vector<Tensor> program_both(const std::string& op, const TensorList& of) { return {compute(op, of), of[0] * 3}; }
Tensor program_gradient_of_weight(std::int64_t context, std::int64_t seed) {
  return get_gradients(context).find(own_weight(seed));
}
DISTRUN_RPC(program_call)
DISTRUN_RPC(program_weighted)
DISTRUN_RPC(program_both)
DISTRUN_RPC(program_gradient_of_weight)

namespace {

class Dice {
 public:
  explicit Dice(std::uint32_t seed) : random_(seed) {}
  std::size_t below(std::size_t limit) { return random_() % limit; }

 private:
  std::mt19937 random_;
};

// The results of binary operators are kept small by the following operator.
Line make_line(Dice& dice, const Program& program, std::size_t values) {
  static const char* const kOps[] = {"add", "sub", "mul", "mm", "cos", "sigmoid", "sigmoid", "cos"};
  Line line;
  line.op = kOps[dice.below(std::size(kOps))];
  line.way = static_cast<Way>(dice.below(7));
  line.worker = static_cast<int>(dice.below(static_cast<std::size_t>(program.workers)));
  const std::size_t count = line.op == "cos" || line.op == "sigmoid" ? 1 : 2;
  const std::size_t first = program.dense + program.sparse;  // sparse leaves are first converted to dense ones
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t choice = dice.below(program.dense + values - first);
    line.of.push_back(choice < program.dense ? choice : choice - program.dense + first);
  }
  return line;
}

TensorList make_leaves(const Program& program, std::uint32_t seed) {
  manual_seed(seed);
  TensorList leaves;
  for (std::size_t i = 0; i < program.dense; ++i) {
    leaves.push_back(set_requires_grad(rand({3, 3}, {tensor::DType::F64, {}})));
  }
  for (std::size_t i = 0; i < program.sparse; ++i) {
    const Tensor indices = from_values<std::int64_t>({0, 1, 2, 1, 0, 2}, {2, 3});
    leaves.push_back(set_requires_grad(sparse_coo(indices, rand({3}, {tensor::DType::F64, {}}), {3, 3})));
  }
  return leaves;
}

TensorList roots_of(const Program& program, const TensorList& values) {
  TensorList roots;
  for (const std::size_t each : program.roots) roots.push_back(sum(values[each]));
  return roots;
}

TensorList picked(const TensorList& values, const std::vector<std::size_t>& of) {
  TensorList all;
  for (const std::size_t each : of) all.push_back(values[each]);
  return all;
}

Tensor run_line(const Line& line, const TensorList& of, std::uint32_t seed, int workers) {
  const std::string to = rpc::name_of(line.worker), next = rpc::name_of((line.worker + 1) % workers);
  switch (line.way) {
    case Way::Here: return compute(line.op, of);
    case Way::Operator: return program_call(to, line.op, of);
    case Way::Async:
      return (of.size() == 1 ? rpc::rpc_async<Tensor>(to, line.op, of[0])
                             : rpc::rpc_async<Tensor>(to, line.op, of[0], of[1]))
          .wait();
    case Way::Reference:
      return (of.size() == 1 ? rref::remote<Tensor>(to, line.op, of[0])
                             : rref::remote<Tensor>(to, line.op, of[0], of[1]))
          .to_here();
    case Way::Beyond: return rpc::rpc_sync<Tensor>(to, "program_call", next, line.op, of);
    case Way::Weighted: return rpc::rpc_sync<Tensor>(to, "program_weighted", line.op, of, std::int64_t{seed});
    case Way::Both: return rpc::rpc_sync<std::vector<Tensor>>(to, "program_both", line.op, of).at(0);
  }
  return {};
}

}  // namespace

Program make_program(std::uint32_t seed, int workers, bool uses_all) {
  Dice dice(seed);
  Program program;
  program.workers = workers;
  program.dense = 1 + dice.below(3);
  program.sparse = dice.below(2);
  program.uses_all = uses_all;
  const std::size_t leaves = program.dense + program.sparse;
  for (std::size_t i = program.dense; i < leaves; ++i) {
    program.lines.push_back({dice.below(2) == 0 ? Way::Here : Way::Operator, "to_dense", {i}, workers - 1});
  }
  const std::size_t count = 20 + dice.below(40);
  while (program.lines.size() < count) {
    Line line = make_line(dice, program, leaves + program.lines.size());
    if (uses_all && line.way == Way::Both) continue;
    program.lines.push_back(std::move(line));
  }
  const std::size_t values = leaves + program.lines.size();
  for (std::size_t i = leaves; i < values; ++i) {
    if (uses_all || i + 1 == values || dice.below(8) == 0) program.roots.push_back(i);
  }
  return program;
}

std::string to_string(const Program& program) {
  static const char* const kWays[] = {"",
                                      " by a call",
                                      " by a call that is not waited for",
                                      " by a reference",
                                      " by a function that calls the next worker",
                                      " with a weight of its own",
                                      " with a second result"};
  std::string text;
  const std::size_t leaves = program.dense + program.sparse;
  for (std::size_t i = 0; i < leaves; ++i) {
    text += "v" + std::to_string(i) + " = a leaf" + (i < program.dense ? "\n" : ", sparse\n");
  }
  for (std::size_t i = 0; i < program.lines.size(); ++i) {
    const Line& line = program.lines[i];
    text += "v" + std::to_string(leaves + i) + " = " + line.op + "(";
    for (std::size_t j = 0; j < line.of.size(); ++j) text += (j == 0 ? "v" : ", v") + std::to_string(line.of[j]);
    text += ")";
    if (line.way != Way::Here) {
      text += " on worker" + std::to_string(line.worker) + kWays[static_cast<std::size_t>(line.way)];
    }
    text += "\n";
  }
  text += "roots: the sums of";
  for (const std::size_t each : program.roots) text += " v" + std::to_string(each);
  return text + "\n";
}

ProgramGradients run_on_one(const Program& program, std::uint32_t seed) {
  const TensorList leaves = make_leaves(program, seed);
  TensorList own;
  for (int worker = 0; worker < program.workers; ++worker) {
    own.push_back(set_requires_grad(full({3, 3}, 0.5 + worker + seed % 7, {tensor::DType::F64, {}})));
  }
  TensorList values = leaves;
  for (const Line& line : program.lines) {
    Tensor value = compute(line.op, picked(values, line.of));
    if (line.way == Way::Weighted) value = value * own[static_cast<std::size_t>(line.worker)];
    values.push_back(value);
  }
  distrun::backward(roots_of(program, values), TensorList(program.roots.size()));
  ProgramGradients gradients;
  for (const Tensor& each : leaves) gradients.of_leaves.push_back(grad(each));
  for (const Tensor& each : own) gradients.of_weights.push_back(grad(each));
  return gradients;
}

ProgramGradients run_on_several(const Program& program, std::uint32_t seed, Mode mode) {
  const TensorList leaves = make_leaves(program, seed);
  const ContextScope scope;
  TensorList values = leaves;
  for (const Line& line : program.lines) {
    values.push_back(run_line(line, picked(values, line.of), seed, program.workers));
  }
  backward(scope.id(), roots_of(program, values), {.mode = mode, .timeout = 30});
  ProgramGradients gradients;
  const GradientsOfLeaves here = get_gradients(scope.id());
  for (const Tensor& each : leaves) gradients.of_leaves.push_back(here.find(each));
  for (int worker = 0; worker < program.workers; ++worker) {
    gradients.of_weights.push_back(
        rpc::rpc_sync<Tensor>(rpc::name_of(worker), "program_gradient_of_weight", scope.id(), std::int64_t{seed}));
  }
  return gradients;
}

}  // namespace distrun::dist_autograd
