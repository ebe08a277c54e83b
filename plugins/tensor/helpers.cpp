// What ported tests bring along: tensors of one value, sparse sums, networks that keep their inputs, and the texts that
// they look for.
#include <distrun/test.hpp>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <distrun/runtime/autograd/operators/all.hpp>
#include <distrun/runtime/tensor/closeness.hpp>
#include <distrun/runtime/tensor/sparse/sparse.hpp>

#include "support/data_parallel.hpp"
#include "support/modules.hpp"
#include "support/tensors.hpp"

namespace {

using namespace distrun::suites;
using distrun::Dims;
using distrun::DType;
using distrun::Tensor;

bool is(const Tensor& tensor, const Dims& sizes, double value, DType dtype = DType::F32) {
  const std::vector<double> numbers = distrun::tensor::to_vector<double>(distrun::to(tensor, DType::F64));
  return tensor.dtype() == dtype && tensor.sizes() == sizes &&
         std::all_of(numbers.begin(), numbers.end(), [value](double number) { return number == value; });
}

// The numbers along the first dimension, where all others are 0.
std::vector<float> first_column(const Tensor& sparse) {
  Tensor dense = distrun::to_dense(sparse);
  while (dense.dim() > 1) dense = distrun::select(dense, 1, 0);
  return distrun::tensor::to_vector<float>(dense);
}

// W, W - 1, .. 1.
std::vector<float> falling(int count) {
  std::vector<float> numbers;
  for (int number = count; number > 0; --number) numbers.push_back(static_cast<float>(number));
  return numbers;
}

}  // namespace

DISTRUN_TEST(Helpers, build_tensors_of_one_value) {
  rank.note("rows",
            "[row:tensors/_build_tensor-size-value-dtype-device] "
            "[row:tensors/_build_multidim_tensor-dim-dim_size-value-dtype]");
  DISTRUN_EXPECT(is(build_tensor(4), {4, 4, 4}, 4));
  DISTRUN_EXPECT(is(build_tensor(2, -1.5, {DType::F64}), {2, 2, 2}, -1.5, DType::F64));
  DISTRUN_EXPECT(is(build_multidim_tensor(2, 5), {5, 5}, 2));
  DISTRUN_EXPECT(is(build_multidim_tensor(4, 1, 7, {DType::I32}), {1, 1, 1, 1}, 7, DType::I32));
  if (rank.gpus() == 0) return;
  const Tensor there = build_tensor(3, 1, {DType::F32, distrun::device::cuda(0)});
  DISTRUN_EXPECT(there.device() == distrun::device::cuda(0));
  DISTRUN_EXPECT(is(distrun::cpu(there), {3, 3, 3}, 1));
}

DISTRUN_TEST(Helpers, make_sparse_tensors_that_overlap) {
  rank.note("rows", "[row:helpers/simple_sparse_reduce_tests-generator]");
  const auto cases = simple_sparse_reduce_cases(2, 4);
  const Dims shapes[] = {{4}, {4, 4}, {4, 4, 4}, {4, 2}, {4, 2, 2}, {4, 2, 2, 2}};
  DISTRUN_REQUIRE(cases.size() == 6U);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const Tensor& input = cases[i].inputs.at(0);  // that of rank 2: three entries
    DISTRUN_EXPECT(input.sizes() == shapes[i]);
    DISTRUN_EXPECT(distrun::tensor::nnz(input) == 3);
    DISTRUN_EXPECT(distrun::tensor::sparse_dim(input) == (i < 3 ? static_cast<std::int64_t>(i) + 1 : 1));
    DISTRUN_EXPECT((first_column(input) == std::vector<float>{1, 1, 1, 0}));
  }
}

// Each rank makes its own inputs, and all expect the same sum: here rank 0 adds up what they say.
DISTRUN_TEST(Helpers, know_the_sums_of_sparse_tensors) {
  rank.note("rows", "[row:helpers/simple_sparse_reduce_tests-rank-world_size-num_inputs-1]");
  for (const int inputs : {1, 3}) {
    const auto own = simple_sparse_reduce_cases(rank.rank(), rank.world_size(), inputs);
    for (std::size_t i = 0; i < own.size(); ++i) {
      DISTRUN_REQUIRE(own[i].inputs.size() == static_cast<std::size_t>(inputs));
      DISTRUN_REQUIRE(own[i].outputs.size() == static_cast<std::size_t>(inputs));
      DISTRUN_EXPECT((first_column(own[i].outputs.back()) == falling(inputs * rank.world_size())));
      Tensor sum = distrun::zeros(own[i].outputs[0].sizes());
      for (int other = 0; other < rank.world_size(); ++other) {
        const auto theirs = simple_sparse_reduce_cases(other, rank.world_size(), inputs);
        for (const Tensor& input : theirs[i].inputs) sum = sum + distrun::to_dense(input);
      }
      DISTRUN_EXPECT(distrun::equal(sum, distrun::to_dense(own[i].outputs[0])));
    }
  }
}

DISTRUN_TEST(Helpers, keep_the_inputs_of_a_module) {
  rank.note("rows", "[row:modules/SaveForwardInputsModule]");
  const auto inputs = std::make_shared<ForwardInputs>();
  SaveForwardInputsModule casts(inputs, true), takes(inputs, false);
  const Tensor x = distrun::full({2, 100}, 0.5, {DType::F64});
  const Tensor y = casts(x);
  DISTRUN_EXPECT(y.dtype() == DType::F32);
  DISTRUN_EXPECT(y.sizes() == (Dims{2, 100}));
  DISTRUN_EXPECT(inputs->at(&casts).dtype() == DType::F64);  // as it came
  DISTRUN_EXPECT(distrun::equal(inputs->at(&casts), x));
  DISTRUN_EXPECT_THROWS(distrun::Error, "linear", takes(x));
  DISTRUN_EXPECT(inputs->size() == 2U);
  DISTRUN_EXPECT(casts.parameters().size() == 2U);
}

DISTRUN_TEST(Helpers, keep_the_inputs_of_a_model) {
  rank.note("rows", "[row:modules/SaveForwardInputsModel]");
  const auto inputs = std::make_shared<ForwardInputs>();
  SaveForwardInputsModel model(inputs, false);
  const Tensor x = distrun::ones({3, 100});
  const Tensor y = model(x);
  DISTRUN_REQUIRE(inputs->size() == 3U);
  DISTRUN_EXPECT(distrun::equal(inputs->at(&model), x));
  DISTRUN_EXPECT(distrun::equal(inputs->at(&model.first()), x));
  const Tensor between = inputs->at(&model.second());
  DISTRUN_EXPECT(distrun::tensor::is_close(between, model.first().forward(x)));
  DISTRUN_EXPECT(distrun::tensor::is_close(y, model.second().forward(between)));
  DISTRUN_EXPECT(model.parameters().size() == 4U);
}

DISTRUN_TEST(Helpers, look_for_the_texts_of_data_parallel_training) {
  rank.note("rows",
            "[row:ddp_strings/ddp_prev_reduction_unfinished_str] "
            "[row:ddp_strings/ddp_recommend_find_unused_params_str] "
            "[row:ddp_strings/ddp_find_unused_params_enabled_str] "
            "[row:ddp_strings/ddp_outputs_not_used_in_loss_str] "
            "[row:ddp_strings/ddp_suggest_debug_mode_str] "
            "[row:helpers/verify_ddp_error_logged-model-err_substr]");
  const std::string error =
      "Expected to have finished reduction in the prior iteration before starting a new one. You can enable unused "
      "parameter detection by passing the keyword argument `find_unused_parameters=True`, and by making sure all "
      "`forward` function outputs participate in calculating loss. You can set the environment variable "
      "TORCH_DISTRIBUTED_DEBUG to either INFO or DETAIL. Since `find_unused_parameters=True` is enabled, ...";
  const LoggingData logged{{"iteration", "3"}, {"has_error", "1"}, {"error", error}};
  for (const std::string_view text :
       {kPriorReductionUnfinished, kRecommendFindUnused, kFindUnusedIsOn, kOutputsNotUsedInLoss, kSuggestDebugMode}) {
    verify_error_logged(logged, text);
    verify_error_logged(logged, std::string(text) + "\nException raised from here");
  }
  DISTRUN_EXPECT_THROWS(distrun::Error, "Did not find expected no such in ddp logging data error: Expected to",
                        verify_error_logged(logged, "no such\nException raised from here"));
  DISTRUN_EXPECT_THROWS(distrun::Error, "has no iteration", verify_error_logged({{"error", error}}, "Expected"));
}
