// Training on several ranks: a model split over two of them, and parameters shared by three workers. Run it
// with
//
//   distrun --world-size 2 --filter '*.as_on_one_rank' split_training.so
//   distrun --world-size 4 --filter '*.by_three_workers' split_training.so
#include <cmath>
#include <cstdio>

#include <distrun/dist_autograd.hpp>
#include <distrun/test.hpp>

using namespace distrun;

namespace {

constexpr int kSteps = 60;

// Half of a model. The same seed gives the same weights.
class Half final : public nn::Module {
 public:
  Half(std::int64_t inputs, std::int64_t outputs, std::int64_t seed) {
    manual_seed(static_cast<std::uint64_t>(seed));
    weight_ = add_parameter("weight", mul(sub(rand({inputs, outputs}), 0.5), 0.5));
  }
  Tensor forward(const Tensor& x) override { return sigmoid(mm(x, parameter(weight_))); }

 private:
  std::size_t weight_ = 0;
};
const auto half = dist_autograd::RegisterModule<Half>("Half").constructor<std::int64_t, std::int64_t, std::int64_t>();

struct Examples {
  Tensor x, y;
};
Examples make_examples() {
  manual_seed(7);
  const Tensor x = randn({32, 8});
  return {x, sigmoid(mm(x, randn({8, 2})))};
}

double number_in(const Tensor& loss) { return loss.item().to<double>(); }

double train_here(const Examples& examples) {
  Half first(8, 16, 1), second(16, 2, 2);
  TensorList parameters = first.trained_parameters();
  parameters.push_back(second.trained_parameters().front());
  nn::SGD optimizer(parameters, {.learning_rate = 0.5, .momentum = 0.9});
  double loss = 0;
  for (int step = 0; step < kSteps; ++step) {
    const Tensor wrong = mse_loss(second.forward(first.forward(examples.x)), examples.y);
    optimizer.zero_grad();
    backward(wrong);
    optimizer.step();
    loss = number_in(wrong);
  }
  return loss;
}

// The second half is on the next rank: activations are sent there, and gradients come back.
double train_split(const Examples& examples) {
  const auto first = std::make_shared<Half>(8, 16, 1);
  const dist_autograd::RemoteModule second("worker1", "Half", std::int64_t{16}, std::int64_t{2}, std::int64_t{2});
  std::vector<RRef<Tensor>> parameters = second.parameters();
  parameters.emplace_back(first->trained_parameters().front());
  dist_autograd::DistributedOptimizer optimizer(parameters, nn::SGDOptions{.learning_rate = 0.5, .momentum = 0.9});
  double loss = 0;
  for (int step = 0; step < kSteps; ++step) {
    const dist_autograd::ContextScope context;
    const Tensor wrong = mse_loss(second.forward(first->forward(examples.x)), examples.y);
    dist_autograd::backward(context.id(), {wrong});
    optimizer.step(context.id());
    loss = number_in(wrong);
  }
  return loss;
}

// A line, on rank 0. Workers compute with a copy that sends its gradients back.
class Line {
 public:
  Tensor fetch() const { return clone(values_); }
  RRef<Tensor> parameter() const { return RRef<Tensor>(values_); }
  double distance() const { return std::hypot(value(0) - 3, value(1) - 1); }

 private:
  double value(std::int64_t place) const { return number_in(select(values_, 0, place)); }
  Tensor values_ = set_requires_grad(zeros({2}));
};
const auto line = rpc::RegisterClass<Line>("Line")
                      .constructor<>()
                      .method("fetch", &Line::fetch)
                      .method("parameter", &Line::parameter);

double train_line(const RRef<Line>& server, int worker) {
  manual_seed(static_cast<std::uint64_t>(worker));
  const Tensor x = randn({64});
  const Tensor y = add(mul(x, 3.0), 1.0);
  dist_autograd::DistributedOptimizer optimizer({server.rpc_sync(&Line::parameter)},
                                                nn::SGDOptions{.learning_rate = 0.05});
  double loss = 0;
  for (int step = 0; step < kSteps; ++step) {
    const dist_autograd::ContextScope context;
    const Tensor values = server.rpc_sync(&Line::fetch);
    const Tensor wrong = mse_loss(add(mul(x, select(values, 0, 0)), select(values, 0, 1)), y);
    dist_autograd::backward(context.id(), {wrong});
    optimizer.step(context.id());
    loss = number_in(wrong);
  }
  return loss;
}
DISTRUN_RPC(train_line)

}  // namespace

DISTRUN_TEST(SplitModel, as_on_one_rank, .world_size = fixed(2)) {
  init_rpc(rank);
  if (rank.rank() == 0) {
    const Examples examples = make_examples();
    const double here = train_here(examples), split = train_split(examples);
    std::printf("loss %.6f on one rank, %.6f on two\n", here, split);
    DISTRUN_EXPECT(std::abs(here - split) < 1e-6);
    DISTRUN_EXPECT(split < 0.02);
  }
  rpc::shutdown();
}

DISTRUN_TEST(SharedLine, by_three_workers, .world_size = fixed(4)) {
  init_rpc(rank);
  if (rank.rank() == 0) {
    const RRef<Line> server(std::make_shared<Line>());
    std::vector<Future<double>> workers;
    for (int worker = 1; worker < rank.world_size(); ++worker) {
      workers.push_back(rpc_async(worker, train_line, server, worker));
    }
    double loss = 0;
    for (const Future<double>& each : workers) loss = std::max(loss, each.wait());
    std::printf("loss %.1e, %.1e away from the line\n", loss, server.local_value()->distance());
    DISTRUN_EXPECT(loss < 1e-2);
  }
  rpc::shutdown();
}
