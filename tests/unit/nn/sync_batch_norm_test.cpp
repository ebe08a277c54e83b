// Batch normalisation over ranks that are threads, where batches are empty. What it computes of others,
// plugins/collectives checks.
#include <catch2/catch.hpp>

#include <functional>
#include <memory>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/thread.hpp>
#include <distrun/runtime/autograd/backward.hpp>
#include <distrun/runtime/autograd/gradient.hpp>
#include <distrun/runtime/autograd/operators/all.hpp>
#include <distrun/runtime/nn/sync_batch_norm.hpp>
#include <distrun/runtime/store/hash_store.hpp>

#include "unit/core/fake_rank_line.hpp"

namespace distrun {
namespace {

using Group = std::shared_ptr<collectives::ProcessGroup>;

// What each rank throws; nothing: it has not.
std::vector<std::string> errors_of(int ranks, const std::function<void(const Group&)>& body) {
  const auto store = std::make_shared<HashStore>();
  std::vector<std::string> errors(static_cast<std::size_t>(ranks));
  std::vector<int> all;
  for (int rank = 0; rank < ranks; ++rank) all.push_back(rank);
  std::vector<base::Thread> threads;
  for (int rank = 0; rank < ranks; ++rank) {
    threads.emplace_back("rank", [&, rank] {
      const testing::FakeRank fake;
      try {
        collectives::GroupOptions options;
        options.backend = "threads";
        options.timeout = std::chrono::seconds(60);
        body(std::make_shared<collectives::ProcessGroup>(collectives::GroupInfo{"world", rank, all}, store, options));
      } catch (const std::exception& error) {
        errors[static_cast<std::size_t>(rank)] = error.what();
      }
    });
  }
  for (base::Thread& each : threads) each.join();
  return errors;
}

void expect(bool is_so, const char* what) {
  if (!is_so) throw Error(ErrorKind::Failed, what);
}

void check_unmoved(const nn::BatchNorm& norm) {
  expect(equal(norm.running_mean(), zeros({2})), "the mean has moved");
  expect(equal(norm.running_var(), ones({2})), "the variance has moved");
  expect(norm.num_batches_tracked().item<int>() == 0, "it was counted");
}

}  // namespace

TEST_CASE("if the batches of all ranks are empty, the results are empty and no moment changes") {
  for (const int ranks : {1, 2, 3}) {
    CHECK(errors_of(ranks, [](const Group& group) {
            for (const Dims& sizes : {Dims{0, 2}, Dims{0, 2, 3}, Dims{5, 2, 0}}) {
              nn::SyncBatchNorm norm(2, group);
              const Tensor x = set_requires_grad(zeros(sizes));
              const Tensor y = norm(x);
              expect(y.sizes() == sizes, "the result has other sizes");
              backward(sum(y));
              expect(grad(x).sizes() == sizes, "the gradient has other sizes");
              expect(equal(grad(norm.weight()), zeros({2})), "the weight has a gradient");
              expect(equal(grad(norm.bias()), zeros({2})), "the bias has a gradient");
              check_unmoved(norm);
            }
          }) == std::vector<std::string>(static_cast<std::size_t>(ranks)));
  }
}

TEST_CASE("empty batches of all ranks have no effect on later ones") {
  CHECK(errors_of(3, [](const Group& group) {
          nn::SyncBatchNorm norm(2, group, {.momentum = std::nullopt});
          norm(zeros({0, 2}));
          check_unmoved(norm);
          // Rank 2 has no row; the others have two of each channel, with mean 2.
          const std::int64_t rows = group->rank() == 2 ? 0 : 2;
          const Tensor x = set_requires_grad(full({rows, 2}, group->rank() == 0 ? 1 : 3));
          backward(sum(norm(x)));
          expect(equal(norm.running_mean(), full({2}, 2)), "the mean is another");
          expect(norm.num_batches_tracked().item<int>() == 1, "it was counted otherwise");
        }) == std::vector<std::string>(3));
}

TEST_CASE("one element on all ranks together is refused on each rank, also after an empty batch") {
  for (const std::string& error : errors_of(2, [](const Group& group) {
         nn::SyncBatchNorm norm(2, group);
         norm(zeros({0, 2}));
         norm(ones({group->rank() == 0 ? 1 : 0, 2}));
       })) {
    CHECK_THAT(error, Catch::Contains("the ranks' batches need more than one element for each channel"));
  }
}

}  // namespace distrun
