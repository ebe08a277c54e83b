// Gradients of graphs across workers with a device each: they return by the way that the tensors took.
#include "scenarios.hpp"
#include "support/device_scale.hpp"

using namespace distrun;
using namespace distrun::suites;
using dist_autograd::ContextScope;

DISTRUN_SUITE(TensorPipeCudaDistAutogradTest, .world_size = fixed(4), .devices = 4);

namespace {

Device own_device(const Rank& rank) { return device::cuda(static_cast<std::int16_t>(rank.rank())); }
Tensor random_leaf(const Rank& rank, const Dims& sizes) {
  return set_requires_grad(rand(sizes, {.device = own_device(rank)}));
}

// Starts RPC with maps from this rank to the devices of the workers at these distances in the ring.
void start_with_maps(Rank& rank, const std::vector<int>& steps) {
  renew_autograd_state();
  const auto options = rpc_options(rank);
  for (const int step : steps) options->set_device_map(next_worker(rank, step), {{rank.rank(), next_rank(rank, step)}});
  rank.barrier("all have begun");
  start_rpc(rank, options);
}

// Creates a layer with those weights on that worker.
RRef<WrapperModule> layer_at(const Rank& rank, int worker, const nn::Linear& layer) {
  return remote<WrapperModule>(rank.worker_name(worker), "WrapperModule", layer.weight(), layer.bias(),
                               device::cuda(static_cast<std::int16_t>(worker)));
}

// Rank 0 sends each other rank the layer of a stage: the gradients there equal those of a local pass.
void expect_gradients_of_stages(const Rank& rank) {
  const std::int64_t size = scaled_product(2000);
  std::vector<std::shared_ptr<nn::Module>> layers;
  std::vector<RRef<WrapperModule>> stages;
  for (int worker = 1; worker < rank.world_size(); ++worker) {
    const auto layer = std::make_shared<nn::Linear>(size, size);
    layer->to(own_device(rank));
    stages.push_back(layer_at(rank, worker, *layer));
    layers.push_back(layer);
  }
  const Tensor x = randn({scaled_product(5000), size}, {.device = own_device(rank)});
  backward(sum(nn::Sequential(layers).forward(x)));
  const ContextScope context;
  Tensor passed = x;
  for (const auto& stage : stages) passed = stage.rpc_sync(&WrapperModule::forward, passed);
  dist_autograd::backward(context.id(), {sum(passed)});
  std::vector<Future<TensorList>> gradients;
  for (const auto& stage : stages) gradients.push_back(stage.rpc_async(&WrapperModule::gradients, context.id()));
  for (std::size_t i = 0; i < stages.size(); ++i) {
    const TensorList there = gradients[i].wait(), parameters = layers[i]->parameters();
    DISTRUN_REQUIRE(there.size() == parameters.size());
    for (std::size_t k = 0; k < there.size(); ++k) {
      DISTRUN_EXPECT(what_differs(there[k], grad(parameters[k])) == "");
    }
  }
}

}  // namespace

DISTRUN_TEST(TensorPipeCudaDistAutogradTest, device_maps_backward_pass) {
  start_with_maps(rank, {1});
  const Tensor t1 = random_leaf(rank, {10}), t2 = random_leaf(rank, {10});
  {
    const ContextScope context;
    const Tensor res = rpc_sync<Tensor>(next_worker(rank), "add", t1, t2);
    dist_autograd::backward(context.id(), {sum(res)});
    const auto gradients = dist_autograd::get_gradients(context.id());
    for (const Tensor& each : {t1, t2}) {
      DISTRUN_EXPECT(what_differs(gradients.at(each), ones({10})) == "");
      DISTRUN_EXPECT((gradients.at(each).device() == each.device()));
    }
  }
  rpc::shutdown();
}

DISTRUN_TEST(TensorPipeCudaDistAutogradTest, dist_autograd_sync_streams) {
  note_scale(rank);
  start_with_maps(rank, {1});
  {
    const auto twice = remote<MyRemoteCompute>(next_worker(rank), "MyRemoteCompute");
    for (int i = 0; i < scaled_rounds(10); ++i) {
      const Tensor input = random_leaf(rank, {scaled_size(1000), scaled_size(10000)});
      const Tensor factor = rand({}, {.device = own_device(rank)});
      backward(sum(input * 2) * factor);
      const ContextScope context;
      dist_autograd::backward(context.id(), {sum(twice.rpc_sync(&MyRemoteCompute::forward, input)) * factor});
      const Tensor gradient = dist_autograd::get_gradients(context.id()).at(input);
      DISTRUN_EXPECT(what_differs(gradient, grad(input)) == "");
    }
  }
  rpc::shutdown();
}

DISTRUN_TEST(TensorPipeCudaDistAutogradTest, gradients_synchronizations) {
  note_scale(rank);
  start_with_maps(rank, {0, 1, 2, 3});
  if (rank.is_master()) expect_gradients_of_stages(rank);
  rpc::shutdown();
}
