#include <atomic>
#include <latch>

#include <catch2/catch.hpp>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/thread.hpp>
#include <distrun/runtime/autograd/backward.hpp>
#include <distrun/runtime/autograd/function.hpp>
#include <distrun/runtime/autograd/grad_mode.hpp>
#include <distrun/runtime/autograd/gradient.hpp>
#include <distrun/runtime/autograd/graph_task.hpp>
#include <distrun/runtime/autograd/history.hpp>
#include <distrun/runtime/autograd/operators/all.hpp>

#include "unit/autograd/leaf.hpp"

namespace distrun {
namespace {

using autograd::at_end_of_pass;
using testing::leaf;

bool simulate_error = false;

struct MayFail {
  static Tensor forward(FunctionContext&, const Tensor& x) { return x * 1; }
  static TensorList backward(FunctionContext&, TensorList gradients) {
    if (simulate_error) throw Error(ErrorKind::Failed, "Simulate error on backward pass");
    return gradients;
  }
};

// A pass within a node of another pass, nested to a depth.
struct Nested {
  static Tensor forward(FunctionContext& context, const Tensor& x, std::int64_t depth) {
    context.data["depth"] = depth;
    return x * 1;
  }
  static TensorList backward(FunctionContext& context, TensorList gradients) {
    const auto depth = std::get<std::int64_t>(context.data["depth"]);
    if (depth == 0) return gradients;
    const EnableGradGuard recorded;
    const Tensor inner = leaf({2});
    distrun::backward(sum(apply<Nested>(inner, depth - 1)));
    return {gradients[0] + sum(grad(inner))};
  }
};

struct Squared {
  static Tensor forward(FunctionContext& context, const Tensor& x) {
    context.save_for_backward({x});
    return x * x;
  }
  static TensorList backward(FunctionContext& context, TensorList gradients) {
    return {gradients[0] * context.saved_tensors()[0] * 2};
  }
};

}  // namespace

TEST_CASE("invalid roots are refused before anything is done") {
  const Tensor a = leaf();
  CHECK_THROWS_WITH(backward(a * 2), "grad can be implicitly created only for scalar outputs");
  CHECK_THROWS_WITH(backward(ones({1})), "element 0 of tensors does not require grad and does not have a grad_fn");
  CHECK_THROWS_WITH(backward(TensorList{}), Catch::Contains("No tensors provided for gradient computation"));
  CHECK_THROWS_WITH(backward(a * 2, ones({2})),
                    "Mismatch in shape: grad_output[0] has a shape of [2] and output[0] has a shape of [3, 3].");
  CHECK_THROWS_WITH(backward({sum(a)}, {Tensor(), Tensor()}), Catch::Contains("1 tensors and 2 gradients"));
  CHECK_THROWS_WITH(backward({sum(a), Tensor()}), Catch::Contains("element 1 of tensors is undefined"));
  CHECK_FALSE(grad(a).defined());
}

TEST_CASE("several roots make one pass, and a leaf may be a root") {
  const Tensor a = leaf();
  const Tensor middle = a * 2;
  backward({sum(middle), sum(middle * middle)});
  CHECK(equal(grad(a), full({3, 3}, 10.0)));
  const Tensor b = leaf({});
  backward(b);
  CHECK(grad(b).item_as<float>() == 1);
  const Tensor c = b * 3;
  backward({c, b, c});
  CHECK(grad(b).item_as<float>() == 8);
}

TEST_CASE("a graph that is not retained releases its tensors, and a second pass says so") {
  const Tensor a = leaf();
  const Tensor loss = sum(a * a);
  backward(loss, {}, {.retain_graph = true});
  backward(loss);
  CHECK(equal(grad(a), full({3, 3}, 4.0)));
  CHECK_THROWS_WITH(backward(loss), Catch::Contains("Trying to backward through the graph a second time") &&
                                        Catch::Contains("MulBackward0"));
}

TEST_CASE("gradients of chosen inputs leave grad() alone and run nothing else") {
  const Tensor a = leaf(), b = leaf();
  const Tensor middle = a * 2;
  int calls = 0;
  register_hook(b, [&calls](const Tensor& gradient) {
    ++calls;
    return gradient;
  });
  const TensorList found = gradients({sum(middle * b * middle)}, {middle, a});
  CHECK(equal(found[0], full({3, 3}, 4.0)));
  CHECK(equal(found[1], full({3, 3}, 8.0)));
  CHECK(calls == 0);
  CHECK_FALSE(grad(a).defined());
  CHECK_THROWS_WITH(gradients({sum(middle)}, {b}), Catch::Contains("appears to not have been used in the graph"));
  CHECK_FALSE(gradients({sum(a * 2)}, {b}, {}, {}, true)[0].defined());
  CHECK_THROWS_WITH(gradients({sum(a)}, {ones({1})}), Catch::Contains("does not require grad"));
}

TEST_CASE("a gradient of a gradient is that of the first one, written as operators") {
  const Tensor x = set_requires_grad(full({3}, 2.0));
  const Tensor first = 3 * x * x;  // gradient of the sum of x * x * x
  CHECK(equal(gradients({sum(first)}, {x})[0], full({3}, 12.0)));
}

TEST_CASE("an output may be an input of gradients(), and an input be named twice") {
  const Tensor a = leaf();
  const Tensor loss = sum(a * 2);
  const TensorList found = gradients({loss}, {loss, a, a});
  CHECK(found[0].item_as<float>() == 1);
  CHECK(equal(found[1], full({3, 3}, 2.0)));
  CHECK(equal(found[2], full({3, 3}, 2.0)));
  CHECK_FALSE(grad(a).defined());
  CHECK_THROWS_WITH(gradients({loss}, {}), Catch::Contains("no inputs are given"));
  CHECK_THROWS_WITH(gradients({loss}, {Tensor()}), Catch::Contains("does not require grad"));
  CHECK_THROWS_WITH(gradients({loss}, {a}, {ones({2})}), Catch::Contains("Mismatch in shape"));
}

TEST_CASE("an error in a node ends the pass with its text, and everything stays usable") {
  const Tensor a = leaf();
  simulate_error = true;
  for (int i = 0; i < 50; ++i) {
    CHECK_THROWS_WITH(backward(sum(apply<MayFail>(a * 2))), "Simulate error on backward pass");
  }
  CHECK_FALSE(grad(a).defined());
  simulate_error = false;
  backward(sum(apply<MayFail>(a * 2)));
  CHECK(equal(grad(a), full({3, 3}, 2.0)));
}

TEST_CASE("a pass may run within a node of another pass, at any depth") {
  const Tensor a = leaf({1});
  constexpr std::int64_t kDepth = 300;
  backward(sum(apply<Nested>(a, kDepth)));
  // Each level adds the gradients of two elements of the next: g(0) = 1, g(n) = 1 + 2 g(n - 1), beyond float32 at 300.
  CHECK(grad(a).item_as<float>() > 1e30f);
  set_grad(a, {});
  backward(sum(apply<Nested>(a, std::int64_t{3})));
  CHECK(grad(a).item_as<float>() == 15);
}

TEST_CASE("threads run passes that end in one leaf at the same time") {
  const Tensor shared = leaf();
  constexpr int kThreads = 8, kPasses = 200;
  {
    std::vector<base::Thread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back("pass", [&shared] {
        for (int pass = 0; pass < kPasses; ++pass) {
          const Tensor own = leaf();
          backward(sum(shared * own + shared));
        }
      });
    }
  }
  CHECK(equal(grad(shared), full({3, 3}, 2.0 * kThreads * kPasses)));
}

TEST_CASE("threads share a graph that is retained") {
  const Tensor a = leaf();
  const Tensor loss = sum(a * a * a);
  constexpr int kThreads = 4, kPasses = 100;
  {
    std::vector<base::Thread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back("pass", [&loss] {
        for (int pass = 0; pass < kPasses; ++pass) backward(loss, {}, {.retain_graph = true});
      });
    }
  }
  CHECK(equal(grad(a), full({3, 3}, 3.0 * kThreads * kPasses)));
}

TEST_CASE("threads that run passes over a graph that is not retained get an error, and nothing breaks") {
  constexpr int kThreads = 4, kRounds = 200;
  std::atomic<int> passed = 0, refused = 0;
  for (int round = 0; round < kRounds; ++round) {
    const Tensor a = leaf();
    const Tensor loss = sum(multi_dot({a * a, apply<Squared>(a), a}) * a);
    std::latch all_here(kThreads);
    std::vector<base::Thread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back("pass", [&] {
        all_here.arrive_and_wait();
        try {
          backward(loss);
          ++passed;
        } catch (const Error& error) {
          refused += std::string(error.what()).find("Trying to backward through the graph a second time") == 0;
        }
      });
    }
  }
  CHECK(passed >= kRounds);
  CHECK(passed + refused == kThreads * kRounds);
}

TEST_CASE("threads that read a view of a changed tensor rebuild its place in the graph once") {
  for (int round = 0; round < 200; ++round) {
    const Tensor base = leaf() * 1;
    const Tensor view = select(base, 0, 1);
    add_(base, base);
    std::vector<tensor::Ref<autograd::Node>> found(4);
    std::latch all_here(4);
    {
      std::vector<base::Thread> threads;
      for (tensor::Ref<autograd::Node>& each : found) {
        threads.emplace_back("reader", [&] {
          all_here.arrive_and_wait();
          if (requires_grad(view)) each = autograd::gradient_edge(view).node;
        });
      }
    }
    for (const tensor::Ref<autograd::Node>& each : found) REQUIRE((each && each.get() == found[0].get()));
  }
}

TEST_CASE("gradients have the dtype of their tensors") {
  const Tensor a = set_requires_grad(ones({3, 3}, {DType::F32, {}}));
  const Tensor b = set_requires_grad(ones({3, 3}, {DType::F64, {}}));
  const Tensor total = sum(a + b);
  CHECK(total.dtype() == DType::F64);
  backward(total);
  CHECK(grad(a).dtype() == DType::F32);
  CHECK(grad(b).dtype() == DType::F64);
}

TEST_CASE("an unused result of several has a gradient of zeros") {
  const Tensor t = set_requires_grad(ones({10, 2}));
  const TensorList pieces = split(t, 2);
  backward(sum(multi_dot({pieces[0], pieces[2], pieces[4]})));
  CHECK(equal(narrow(grad(t), 0, 2, 2), zeros({2, 2})));
  CHECK(equal(narrow(grad(t), 0, 6, 2), zeros({2, 2})));
  CHECK_FALSE(equal(narrow(grad(t), 0, 0, 2), zeros({2, 2})));
}

TEST_CASE("callbacks for the end of a pass run once all gradients are there, in order") {
  const Tensor a = leaf({2}), b = leaf({2});
  std::vector<std::string> done;
  const auto note = [&done, &b](const char* name) {
    at_end_of_pass([&done, &b, name] { done.push_back(std::string(name) + (grad(b).defined() ? "" : " early")); });
  };
  register_hook(a, [&](const Tensor&) {
    note("first");
    note("second");
    return Tensor();
  });
  backward(sum(a * b));
  CHECK(done == std::vector<std::string>{"first", "second"});
  CHECK_THROWS_WITH(at_end_of_pass([] {}), Catch::Contains("is not in a backward pass"));
  CHECK_THROWS_WITH(at_end_of_pass({}), Catch::Contains("the callback is empty"));
}

TEST_CASE("a callback for the end of a pass may throw, and is not called after an error of the pass") {
  const Tensor a = leaf({2});
  const auto hook = register_hook(a, [](const Tensor&) {
    at_end_of_pass([] { throw Error(ErrorKind::Failed, "it can not be done"); });
    return Tensor();
  });
  CHECK_THROWS_WITH(backward(sum(a)), "it can not be done");
  remove_hook(a, hook);
  register_hook(a, [](const Tensor&) -> Tensor {
    at_end_of_pass([] { FAIL("the pass has failed"); });
    throw Error(ErrorKind::Failed, "the hook fails");
  });
  CHECK_THROWS_WITH(backward(sum(a)), Catch::Contains("the hook fails"));
}

TEST_CASE("a pass that ends on no thread of its own refuses callbacks for its end") {
  const Tensor a = leaf({});
  register_hook(a, [](const Tensor&) {
    at_end_of_pass([] { FAIL("the callback was called"); });
    return Tensor();
  });
  const auto task = tensor::make_ref<autograd::GraphTask>(autograd::PassOptions{.on_ready = [] {}});
  task->add_root(autograd::gradient_edge(a), ones({}));
  task->start();
  task->drive();
  REQUIRE(task->is_done());
  CHECK_THROWS_WITH(std::rethrow_exception(task->error()),
                    Catch::Contains("a pass of distributed autograd ends on no thread"));
  CHECK_FALSE(grad(a).defined());
}

}  // namespace distrun
