// Passes with gradients from outside, like those of distributed autograd.
#include <catch2/catch.hpp>

#include <atomic>
#include <optional>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/thread.hpp>
#include <distrun/runtime/autograd/gradient.hpp>
#include <distrun/runtime/autograd/graph_task.hpp>
#include <distrun/runtime/autograd/operators/all.hpp>

#include "unit/autograd/leaf.hpp"

namespace distrun {
namespace {

using autograd::GradientMap;
using autograd::Gradients;
using autograd::GraphTask;
using autograd::Ref;
using testing::leaf;

// Stands for tensors that were sent away: their gradients come from outside.
class Sent final : public autograd::Node {
 public:
  explicit Sent(const Tensor& tensor) {
    add_input(tensor);
    add_next_edge(autograd::gradient_edge(tensor));
  }
  std::string name() const override { return "Sent"; }
  Gradients apply(Gradients gradients) override { return gradients; }
};

Gradients one(Tensor gradient) {
  Gradients gradients(1);
  gradients[0] = std::move(gradient);
  return gradients;
}

Ref<GraphTask> make_task(GradientMap& map) {
  return tensor::make_ref<GraphTask>(autograd::PassOptions{.leaves = &map});
}

}  // namespace

TEST_CASE("a pass waits for the gradients that are fed to it, and the last thread that feeds one completes it") {
  const Tensor a = leaf();
  const auto first = tensor::make_ref<Sent>(a * 2), second = tensor::make_ref<Sent>(a * 3);
  GradientMap map;
  const Ref<GraphTask> task = make_task(map);
  int done = 0;
  task->on_done([&done] { ++done; });
  const Tensor loss = sum(a);
  task->add_root(autograd::gradient_edge(loss), ones_like(loss));
  task->expect(first);
  task->expect(second);
  task->start();
  task->drive();
  CHECK_FALSE(task->is_done());
  CHECK(map.size() == 0);  // the leaf waits for the gradients of all its uses
  CHECK_FALSE(task->feed(*second, one(ones({3, 3}))));
  task->drive();
  CHECK(done == 0);
  CHECK_FALSE(task->feed(*first, one(ones({3, 3}))));
  task->drive();
  CHECK(task->is_done());
  CHECK(done == 1);
  CHECK(equal(map.find(a), full({3, 3}, 6.0)));
}

TEST_CASE("an error from outside ends a pass that waits, and later gradients are ignored") {
  const Tensor a = leaf();
  const auto sent = tensor::make_ref<Sent>(a * 2);
  GradientMap map;
  const Ref<GraphTask> task = make_task(map);
  int done = 0;
  task->on_done([&done] { ++done; });
  task->expect(sent);
  task->start();
  task->fail(std::make_exception_ptr(Error(ErrorKind::Failed, "the peer is gone")));
  CHECK(task->is_done());
  CHECK(done == 1);
  CHECK_FALSE(task->feed(*sent, one(ones({3, 3}))));
  task->drive();
  CHECK(map.size() == 0);
  CHECK_THROWS_WITH(std::rethrow_exception(task->error()), "the peer is gone");
  CHECK(done == 1);
}

TEST_CASE("a node that is fed twice runs once, with the sum") {
  const Tensor a = leaf();
  const auto sent = tensor::make_ref<Sent>(a * 2);
  GradientMap map;
  const Ref<GraphTask> task = make_task(map);
  task->expect(sent, 2);
  task->start();
  CHECK_FALSE(task->feed(*sent, one(ones({3, 3}))));
  task->drive();
  CHECK_FALSE(task->is_done());
  CHECK_FALSE(task->feed(*sent, one(full({3, 3}, 4.0))));
  task->drive();
  CHECK(task->is_done());
  CHECK(equal(map.find(a), full({3, 3}, 10.0)));
}

TEST_CASE("a gradient that does not fit is refused, and the pass continues") {
  const Tensor a = leaf();
  const auto sent = tensor::make_ref<Sent>(a * 2), stranger = tensor::make_ref<Sent>(a * 3);
  GradientMap map;
  const Ref<GraphTask> task = make_task(map);
  task->expect(sent);
  task->start();
  const auto refused = [&](const Ref<Sent>& node, Gradients gradients) {
    const std::optional<Error> error = task->feed(*node, std::move(gradients));
    REQUIRE(error);
    CHECK(error->kind() == ErrorKind::InvalidArgument);
    return error->text();
  };
  CHECK(refused(stranger, one(ones({3, 3}))) == "cannot feed Sent: it is not expected by this pass");
  CHECK(refused(sent, Gradients(2)) == "cannot feed Sent: it needs 1 gradients, and was fed 2");
  CHECK(refused(sent, one(ones({2, 3}))) ==
        "cannot feed Sent: it needs a gradient of float32 [3, 3] on cpu for input 0, and was fed float32 [2, 3]");
  CHECK_FALSE(task->is_done());
  CHECK_FALSE(task->feed(*sent, one(ones({3, 3}))));
  CHECK(refused(sent, one(ones({3, 3}))) == "cannot feed Sent: it was fed as often as this pass expects");
  task->drive();
  CHECK(task->is_done());
  CHECK(equal(map.find(a), full({3, 3}, 2.0)));
}

TEST_CASE("threads feed one pass at the same time") {
  constexpr int kSends = 64, kThreads = 4;
  const Tensor a = leaf();
  std::vector<Ref<Sent>> sends;
  GradientMap map;
  const Ref<GraphTask> task = make_task(map);
  for (int i = 0; i < kSends; ++i) {
    sends.push_back(tensor::make_ref<Sent>(a * 2));
    task->expect(sends.back());
  }
  task->start();
  std::atomic<int> refused{0};
  {
    std::vector<base::Thread> threads;
    for (int thread = 0; thread < kThreads; ++thread) {
      threads.emplace_back("feeder", [&, thread] {
        for (int i = thread; i < kSends; i += kThreads) {
          refused += task->feed(*sends[static_cast<std::size_t>(i)], one(ones({3, 3}))) ? 1 : 0;
          task->drive();
        }
      });
    }
  }
  CHECK(refused == 0);
  CHECK(task->is_done());
  CHECK(equal(map.find(a), full({3, 3}, 2.0 * kSends)));
}

TEST_CASE("run() waits for gradients that others feed") {
  const Tensor a = leaf();
  const auto sent = tensor::make_ref<Sent>(a * 2);
  GradientMap map;
  const Ref<GraphTask> task = make_task(map);
  task->expect(sent);
  std::optional<Error> fed;
  base::Thread feeder("feeder", [&] { fed = task->feed(*sent, one(ones({3, 3}))); });
  feeder.join();
  CHECK_FALSE(fed);
  task->run();
  CHECK(equal(map.find(a), full({3, 3}, 2.0)));
}

}  // namespace distrun
