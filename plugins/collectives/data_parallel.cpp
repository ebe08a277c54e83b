// Data-parallel training: each rank's results, and the errors when gradients are missing.
#include "support/data_parallel.hpp"

#include <distrun/runtime/nn/data_parallel.hpp>
#include <distrun/runtime/nn/sgd.hpp>

#include "support/networks.hpp"
#include "support/objects.hpp"
#include "values.hpp"

namespace {

using namespace distrun;
using namespace distrun::suites;
using nn::DataParallel;

// Returns a rank's training data: rows that differ by rank.
Tensor rows_of(int rank, std::int64_t rows, std::int64_t columns) {
  manual_seed(1000 + static_cast<std::uint64_t>(rank));
  return here(randn({rows, columns}));
}

Tensor all_rows(int ranks, std::int64_t rows, std::int64_t columns) {
  TensorList all;
  for (int rank = 0; rank < ranks; ++rank) all.push_back(rows_of(rank, rows, columns));
  return cat(all);
}

template <class Net>
std::shared_ptr<Net> at_home(std::shared_ptr<Net> net) {
  net->to(home());
  return net;
}

// Creates the same network on every rank.
template <class Net, class... Arguments>
std::shared_ptr<Net> seeded(std::uint64_t seed, Arguments&&... arguments) {
  manual_seed(seed);
  return at_home(std::make_shared<Net>(std::forward<Arguments>(arguments)...));
}

void expect_gradients_of(const nn::Module& actual, const nn::Module& expected) {
  const TensorList got = actual.parameters(), wanted = expected.parameters();
  DISTRUN_REQUIRE(got.size() == wanted.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    DISTRUN_REQUIRE(grad(got[i]).defined() == grad(wanted[i]).defined());
    if (grad(got[i]).defined()) expect_same(grad(got[i]), grad(wanted[i]));
  }
}

// Checks that all ranks have the same bits.
void expect_same_on_all(ProcessGroup& group, const TensorList& tensors) {
  for (const Tensor& each : tensors) {
    const Tensor first = tensor::clone(detach(each));
    group.broadcast(first);
    expect_same(detach(each), first);
  }
}

// Runs a network on all rows at once, on one rank: the ranks together must get the same gradients.
template <class Net>
void expect_as_one(Rank& rank, std::int64_t columns, nn::DataParallelOptions options = {}) {
  const auto group = init_process_group(rank);
  const auto one = seeded<Net>(7);
  backward(sum(one->forward(all_rows(rank.world_size(), 6, columns))) / rank.world_size());
  DataParallel<Net> many(seeded<Net>(rank.rank() == 0 ? 7 : 99), group, std::move(options));
  backward(sum(many(rows_of(rank.rank(), 6, columns))));
  expect_gradients_of(many.module(), *one);
  expect_same_on_all(*group, many.module().parameters());
}

}  // namespace

DISTRUN_SUITE(DataParallel, .skip = {needs_gpus_for_nccl()});

DISTRUN_TEST(DataParallel, averages_what_each_rank_computes) {
  rank.note("rows", "[row:ddp_nets/Net] [row:ddp_nets/_FC2] [row:ddp_nets/global-instances]");
  const auto group = init_process_group(rank);
  const auto one = seeded<Net>(7);
  backward(mse_loss(one->forward(all_rows(rank.world_size(), 4, 2)), here(zeros({rank.world_size() * 4, 4}))));
  manual_seed(7 + static_cast<std::uint64_t>(rank.rank()));
  DataParallel<Net> many(at_home(ddp_net()), group);
  backward(mse_loss(many(rows_of(rank.rank(), 4, 2)), here(zeros({4, 4}))));
  expect_gradients_of(many.module(), *one);
  const auto parameters = many.module().named_parameters();
  DISTRUN_EXPECT(parameters.size() == 5U);
  for (const auto& [name, parameter] : parameters) {
    const bool is_trained = name != "no_grad_param" && name != "fc2.fc.bias";
    DISTRUN_EXPECT(requires_grad(parameter) == is_trained);
    DISTRUN_EXPECT(grad(parameter).defined() == is_trained);
  }
  DISTRUN_EXPECT(parameters.front().second.dtype() == DType::I64);
}

DISTRUN_TEST(DataParallel, of_gradients_larger_than_a_bucket) {
  rank.note("rows", "[row:ddp_nets/LargeNet]");
  expect_as_one<LargeNet>(rank, 1000, {.buckets = {.first_bytes = 1 << 20, .bytes = 1 << 20}});
}

DISTRUN_TEST(DataParallel, adds_what_is_the_same_everywhere) {
  rank.note("rows", "[row:ddp_nets/Task]");
  const auto group = init_process_group(rank);
  DataParallel<Task> net(at_home(std::make_shared<Task>()), group);
  const Tensor x = here(full({2, 2}, rank.rank()));
  const Tensor y = net(x);
  expect_same(detach(y), here(full({2, 2}, rank.rank() + 1)));
  backward(sum(y * static_cast<double>(rank.rank())));
  expect_same(grad(net.module().parameters().front()), here(full({2, 2}, (rank.world_size() - 1) / 2.0)));
}

DISTRUN_TEST(DataParallel, normalises_each_ranks_batch) {
  rank.note("rows", "[row:ddp_nets/BatchNormNet] [row:ddp_nets/global-instances]");
  const auto group = init_process_group(rank);
  for (const bool affine : {true, false}) {
    DataParallel<BatchNormNet> net(at_home(affine ? bn_net() : bn_net_no_affine()), group);
    DISTRUN_EXPECT(net.module().parameters().size() == (affine ? 4U : 2U));
    const Tensor y = net(rows_of(rank.rank(), 5, 2));
    expect_same(detach(sum(y, {1})), here(ones({5})));
    backward(sum(y * y));
    TensorList gradients;
    for (const Tensor& each : net.module().parameters()) gradients.push_back(grad(each));
    expect_same_on_all(*group, gradients);
  }
}

DISTRUN_TEST(DataParallel, normalises_over_all_ranks_where_told_so) {
  rank.note("rows", "[row:ddp_nets/global-instances]");
  const auto group = init_process_group(rank);
  const auto net = at_home(only_sbn_net(group));
  nn::BatchNorm one(2, {.momentum = 0.99});
  one.to(home());
  const Tensor wanted = one.forward(all_rows(rank.world_size(), 4, 2));
  const Tensor y = net->forward(rows_of(rank.rank(), 4, 2));
  expect_same(detach(y), detach(narrow(wanted, 0, 4 * rank.rank(), 4)));
  expect_same(net->running_var(), one.running_var());
  DISTRUN_EXPECT(net->options().momentum == 0.99);
}

DISTRUN_TEST(DataParallel, takes_the_buffers_of_the_first_rank) {
  rank.note("rows", "[row:ddp_nets/NetWithBuffers]");
  const auto group = init_process_group(rank);
  manual_seed(static_cast<std::uint64_t>(rank.rank()));
  DataParallel<NetWithBuffers> net(at_home(std::make_shared<NetWithBuffers>()), group);
  const Tensor buffer = net.module().buffers().front();
  const Tensor before = tensor::clone(buffer);
  if (rank.rank() != 0) tensor::add_(buffer, 5);
  DISTRUN_EXPECT(net(rows_of(rank.rank(), 3, 10)).sizes() == Dims({3, 1}));
  expect_same(buffer, tensor::add(before, 1));
  expect_same_on_all(*group, {buffer});
}

DISTRUN_TEST(DataParallel, finds_tensors_in_pairs) {
  rank.note("rows", "[row:ddp_nets/TwoLinLayerNet]");
  const auto group = init_process_group(rank);
  DataParallel<TwoLinLayerNet> net(at_home(std::make_shared<TwoLinLayerNet>()), group,
                                   {.find_unused_parameters = true});
  const auto parameters = net.module().parameters();
  const auto [a, b] = net(rows_of(rank.rank(), 4, 10));
  DISTRUN_EXPECT(a.sizes() == Dims({4, 10}));
  DISTRUN_EXPECT(b.sizes() == Dims({4, 1}));
  backward(sum(a) + sum(b));
  expect_same_on_all(*group, {grad(parameters[0]), grad(parameters[1])});
}

DISTRUN_TEST(DataParallel, says_which_parameters_got_no_gradient) {
  rank.note("rows",
            "[row:ddp_nets/UnusedParamTwoLinLayerNet] [row:ddp_strings/ddp_prev_reduction_unfinished_str] "
            "[row:ddp_strings/ddp_recommend_find_unused_params_str] "
            "[row:ddp_strings/ddp_outputs_not_used_in_loss_str] [row:ddp_strings/ddp_suggest_debug_mode_str]");
  const auto group = init_process_group(rank);
  DataParallel<UnusedParamTwoLinLayerNet> net(at_home(std::make_shared<UnusedParamTwoLinLayerNet>()), group);
  const Tensor x = rows_of(rank.rank(), 4, 10);
  const auto [a, b] = net(x);
  backward(sum(a) + sum(b));
  DISTRUN_EXPECT_THROWS(Error, "these parameters have no gradient: c.weight (number 2)", net(x));
  for (const std::string_view part :
       {kPriorReductionUnfinished, kRecommendFindUnused, kOutputsNotUsedInLoss, kSuggestDebugMode}) {
    verify_error_logged(net.logging_data(), part);
  }
  DISTRUN_EXPECT(net.logging_data().at("error").find(kFindUnusedIsOn) == std::string::npos);
}

DISTRUN_TEST(DataParallel, does_not_wait_for_unused_parameters_where_told_so) {
  rank.note("rows",
            "[row:ddp_nets/UnusedParamTwoLinLayerNet] [row:ddp_nets/DictOutputModule] "
            "[row:ddp_strings/ddp_find_unused_params_enabled_str]");
  const auto group = init_process_group(rank);
  const auto inner = std::make_shared<UnusedParamTwoLinLayerNet>();
  DataParallel<DictOutputModule> net(at_home(std::make_shared<DictOutputModule>(inner)), group,
                                     {.find_unused_parameters = true});
  const TensorList parameters = net.module().parameters();
  for (int pass = 0; pass < 2; ++pass) {
    const auto outputs = net(rows_of(rank.rank(), 4, 10));
    backward(std::get<Tensor>(outputs.at("loss")));
  }
  DISTRUN_EXPECT(!grad(parameters[2]).defined());  // no rank uses it
  expect_same_on_all(*group, {grad(parameters[0]), grad(parameters[1])});
  const auto outputs = net(rows_of(rank.rank(), 4, 10));
  backward(sum(std::get<TensorPair>(outputs.at("predictions")).first));  // the other one is an output too, and not used
  DISTRUN_EXPECT_THROWS(Error, std::string(kFindUnusedIsOn), net(rows_of(rank.rank(), 4, 10)));
  for (const std::string_view part :
       {kPriorReductionUnfinished, kFindUnusedIsOn, kOutputsNotUsedInLoss, kSuggestDebugMode}) {
    verify_error_logged(net.logging_data(), part);
  }
  DISTRUN_EXPECT(net.logging_data().at("error").find(kRecommendFindUnused) == std::string::npos);
}

DISTRUN_TEST(DataParallel, averages_parameters_that_some_ranks_use) {
  rank.note("rows", "[row:ddp_nets/ControlFlowToyModel]");
  const auto group = init_process_group(rank);
  DataParallel<ControlFlowToyModel> net(at_home(std::make_shared<ControlFlowToyModel>()), group,
                                        {.find_unused_parameters = true});
  const TensorList parameters = net.module().parameters();
  const bool uses_both = rank.rank() == 0;
  backward(sum(net(uses_both ? here(ones({20, 10})) : rows_of(rank.rank(), 20, 10))));
  DISTRUN_REQUIRE(grad(parameters[1]).defined());
  expect_same_on_all(*group, {grad(parameters[0]), grad(parameters[1])});
  net.module().zero_grad();
  backward(sum(net(rows_of(rank.rank(), 20, 10))));
  DISTRUN_EXPECT(!grad(parameters[1]).defined());
}

namespace {

// Its parameters have these sizes; the third part of its last layer, if any, is not used.
void expect_different(EmbeddingNetDifferentParams&& net, const std::vector<Dims>& sizes) {
  const TensorList parameters = net.parameters();
  DISTRUN_REQUIRE(parameters.size() == sizes.size());
  for (std::size_t i = 0; i < sizes.size(); ++i) DISTRUN_EXPECT(parameters[i].sizes() == sizes[i]);
  const Tensor rows = stack({select(parameters[0], 0, 3), select(parameters[0], 0, 4)});
  expect_same(detach(net.forward(from_values<std::int64_t>({3, 4}))),
              detach(matmul(rows, transpose(parameters[1], 0, 1)) + parameters[2]));
}

}  // namespace

DISTRUN_TEST(DataParallel, refuses_ranks_with_different_networks, .skip = {require_world_size(2)}) {
  rank.note("rows", "[row:ddp_nets/EmbeddingNetDifferentParams]");
  const auto group = init_process_group(rank);
  using Different = EmbeddingNetDifferentParams;
  const auto wrap = [&](std::shared_ptr<Different> net) { DataParallel<Different>(std::move(net), group); };
  DISTRUN_EXPECT_THROWS(Error, "params[0] (embedding.weight) in this process with sizes [10, 50] of float32",
                        wrap(std::make_shared<Different>(rank.rank(), false)));
  const bool has_more = rank.rank() == 1;
  DISTRUN_EXPECT_THROWS(
      Error, "Rank 1 has 4 params, while rank 0 has inconsistent 3 params",
      has_more ? wrap(std::make_shared<Different>(0, true)) : wrap(std::make_shared<Different>(0, false)));
  for (const int each : {0, 1, 3}) {
    const std::int64_t width = each == 0 ? 500 : 50;
    expect_different(Different(each, false), {{10, width}, {1, width}, {1}});
    expect_different(Different(each, true), {{10, 500}, {1, 500}, {1}, {1, 1}});
  }
}

DISTRUN_TEST(DataParallel, refuses_networks_that_need_no_gradients) {
  const auto group = init_process_group(rank);
  const auto none = std::make_shared<nn::ReLU>();
  DISTRUN_EXPECT_THROWS(Error, "no parameter of the module needs a gradient", DataParallel<nn::ReLU>(none, group));
}

DISTRUN_TEST(DataParallel, adds_up_without_waiting_for_others_and_averages_then) {
  const auto group = init_process_group(rank);
  // A loss with a varying gradient; the gradient of softmax's sum would be constant.
  const auto loss_of = [](const Tensor& outputs) { return sum(outputs * outputs); };
  const auto one = seeded<Net>(7);
  for (const std::int64_t rows : {3, 5}) {
    backward(loss_of(one->forward(all_rows(rank.world_size(), rows, 2))) / rank.world_size());
  }
  DataParallel<Net> many(seeded<Net>(7), group);
  const std::uint64_t calls = group->sequence_number();
  {
    const auto alone = many.no_sync();
    backward(loss_of(many(rows_of(rank.rank(), 3, 2))));
    DISTRUN_EXPECT(group->sequence_number() == calls);
  }
  backward(loss_of(many(rows_of(rank.rank(), 5, 2))));
  expect_gradients_of(many.module(), *one);
}

DISTRUN_TEST(DataParallel, trains_as_one_rank_does) {
  const auto group = init_process_group(rank);
  const auto one = seeded<Net>(3);
  DataParallel<Net> many(seeded<Net>(3), group);
  nn::SGD alone(one->trained_parameters(), {.learning_rate = 0.5});
  nn::SGD together(many.module().trained_parameters(), {.learning_rate = 0.5});
  for (int step = 0; step < 5; ++step) {
    alone.zero_grad();
    together.zero_grad();
    backward(mse_loss(one->forward(all_rows(rank.world_size(), 8, 2)), here(zeros({rank.world_size() * 8, 4}))));
    backward(mse_loss(many(rows_of(rank.rank(), 8, 2)), here(zeros({8, 4}))));
    alone.step();
    together.step();
  }
  const TensorList wanted = one->parameters(), got = many.module().parameters();
  for (std::size_t i = 0; i < wanted.size(); ++i) expect_same(detach(got[i]), detach(wanted[i]));
  expect_same_on_all(*group, got);
}

DISTRUN_TEST(DataParallel, tells_of_itself) {
  const auto group = init_process_group(rank);
  DataParallel<Net> net(at_home(ddp_net()), group, {.name = "Net"});
  backward(sum(net(rows_of(rank.rank(), 3, 2))));
  const nn::LoggingData& log = net.logging_data();
  DISTRUN_EXPECT(log.at("module_name") == "Net");
  DISTRUN_EXPECT(log.at("world_size") == std::to_string(rank.world_size()));
  DISTRUN_EXPECT(log.at("rank") == std::to_string(rank.rank()));
  DISTRUN_EXPECT(log.at("backend_name") == group->backend());
  DISTRUN_EXPECT(log.at("iteration") == "1");
  DISTRUN_EXPECT(log.at("has_error") == "0");
  DISTRUN_EXPECT(log.at("bucket_sizes") == std::to_string(4 * (2 * 10 + 10 * 50 + 50 * 4)));
}

DISTRUN_TEST(DataParallel, on_gpus_averages_behind_their_streams, .devices = 1) {
  const auto group = init_process_group(rank);
  const auto one = seeded<Net>(7);
  backward(mse_loss(one->forward(all_rows(rank.world_size(), 4, 2)), here(zeros({rank.world_size() * 4, 4}))));
  const auto module = seeded<Net>(7);
  const Device gpu = own_gpu(rank);
  module->to(gpu);
  DataParallel<Net> many(module, group, {.buckets = {.first_bytes = 100, .bytes = 500}, .device = gpu});
  const Tensor target = zeros({4, 4}, {DType::F32, gpu});
  backward(mse_loss(many(rows_of(rank.rank(), 4, 2)), target));
  const TensorList got = module->trained_parameters(), wanted = one->trained_parameters();
  for (std::size_t i = 0; i < got.size(); ++i) expect_same(to(grad(got[i]), device::kCpu), grad(wanted[i]));
}
