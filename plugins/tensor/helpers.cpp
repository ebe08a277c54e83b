// The ported tests' helpers: tensors of one value, sparse sums, networks that keep their inputs, and expected texts.
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

// Returns the shapes of the six cases for `w` inputs: more sparse dimensions, then more dense ones.
std::vector<Dims> sparse_shapes(std::int64_t w) { return {{w}, {w, w}, {w, w, w}, {w, 2}, {w, 2, 2}, {w, 2, 2, 2}}; }

// Returns case `i` with these numbers along the first dimension: at 0 of the further sparse dimensions, and everywhere
// in the dense ones; else 0.
Tensor spread(std::size_t i, const std::vector<float>& numbers) {
  const auto count = static_cast<std::int64_t>(numbers.size());
  const Dims shape = sparse_shapes(count).at(i);
  const bool has_dense = i > 2;
  const auto inner = static_cast<std::size_t>(distrun::zeros(shape).numel() / count);
  std::vector<float> all(numbers.size() * inner, 0);
  for (std::size_t j = 0; j < numbers.size(); ++j) {
    for (std::size_t k = 0; k < (has_dense ? inner : 1); ++k) all[j * inner + k] = numbers[j];
  }
  return distrun::tensor::from_values<float>(all, shape);
}

// Returns `ones` ones, then zeros.
std::vector<float> leading(std::int64_t ones, std::int64_t count) {
  std::vector<float> numbers(static_cast<std::size_t>(count), 0);
  std::fill_n(numbers.begin(), ones, 1.0F);
  return numbers;
}

// Returns W, W - 1, .. 1.
std::vector<float> falling(std::int64_t count) {
  std::vector<float> numbers;
  for (std::int64_t number = count; number > 0; --number) numbers.push_back(static_cast<float>(number));
  return numbers;
}

// Checks entry r + 1 of case `i` of W: float32 values at 0 .. r, and nothing else is stored.
void expect_generated(const Tensor& input, std::size_t i, std::int64_t r, std::int64_t w) {
  DISTRUN_EXPECT(input.is_sparse());
  DISTRUN_EXPECT((input.dtype() == DType::F32));
  DISTRUN_EXPECT(input.sizes() == sparse_shapes(w).at(i));
  DISTRUN_EXPECT(distrun::tensor::nnz(input) == r + 1);
  DISTRUN_EXPECT(distrun::tensor::sparse_dim(input) == (i < 3 ? static_cast<std::int64_t>(i) + 1 : 1));
  DISTRUN_EXPECT(distrun::equal(distrun::to_dense(input), spread(i, leading(r + 1, w))));
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
  for (const int world_size : {1, 2, 4}) {
    for (int each = 0; each < world_size; ++each) {
      const auto cases = simple_sparse_reduce_cases(each, world_size);
      DISTRUN_REQUIRE(cases.size() == 6U);
      for (std::size_t i = 0; i < cases.size(); ++i) expect_generated(cases[i].inputs.at(0), i, each, world_size);
    }
  }
}

// Each rank creates its inputs, and all expect the same sum: here rank 0 adds the inputs up.
DISTRUN_TEST(Helpers, know_the_sums_of_sparse_tensors) {
  rank.note("rows", "[row:helpers/simple_sparse_reduce_tests-rank-world_size-num_inputs-1]");
  for (const int inputs : {1, 3}) {
    const auto own = simple_sparse_reduce_cases(rank.rank(), rank.world_size(), inputs);
    for (std::size_t i = 0; i < own.size(); ++i) {
      DISTRUN_REQUIRE(own[i].inputs.size() == static_cast<std::size_t>(inputs));
      DISTRUN_REQUIRE(own[i].outputs.size() == static_cast<std::size_t>(inputs));
      const std::int64_t w = std::int64_t{inputs} * rank.world_size();
      for (int j = 0; j < inputs; ++j) {
        const auto place = static_cast<std::size_t>(j);
        expect_generated(own[i].inputs[place], i, std::int64_t{inputs} * rank.rank() + j, w);
        DISTRUN_EXPECT(distrun::equal(distrun::to_dense(own[i].outputs[place]), spread(i, falling(w))));
      }
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
  DISTRUN_EXPECT(inputs->at(&casts).dtype() == DType::F64);  // not cast
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
  rank.note("rows", "[row:helpers/verify_ddp_error_logged-model-err_substr]");
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
