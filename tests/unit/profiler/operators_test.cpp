// Operators and nodes of backward passes as events, with their costs.
#include <catch2/catch.hpp>

#include <algorithm>
#include <string>
#include <vector>

#include <distrun/common/base/thread.hpp>
#include <distrun/runtime/autograd/backward.hpp>
#include <distrun/runtime/autograd/gradient.hpp>
#include <distrun/runtime/autograd/operators/all.hpp>
#include <distrun/runtime/autograd/scope.hpp>
#include <distrun/runtime/device/stream.hpp>
#include <distrun/runtime/profiler/profile.hpp>
#include <distrun/runtime/profiler/span.hpp>
#include <distrun/runtime/tensor/core/watch.hpp>

#include "support/gpus.hpp"

namespace distrun::profiler {
namespace {

using Shapes = std::vector<std::vector<std::int64_t>>;

std::vector<std::string> names_in(const Events& events) {
  std::vector<std::string> names;
  for (const Event& each : events) names.push_back(each.name);
  return names;
}

const Event& named(const Events& events, const std::string& name) {
  const auto found = std::find_if(events.begin(), events.end(), [&](const Event& each) { return each.name == name; });
  REQUIRE(found != events.end());
  return *found;
}

TEST_CASE("operators are events under their PyTorch names, and relu shows its inner operators") {
  Profile profile;
  const Tensor a = ones({2});
  const Tensor square = a * a;
  const Tensor none = zeros({2});
  sigmoid(relu(square + none));
  profile.end();
  relu(a);
  const Events events = profile.events();
  CHECK(names_in(events) == std::vector<std::string>{"aten::ones", "aten::mul", "aten::zeros", "aten::add",
                                                     "aten::relu", "aten::clamp_min", "aten::sigmoid"});
  const Event& outer = named(events, "aten::relu");
  const Event& inner = named(events, "aten::clamp_min");
  REQUIRE(outer.children == std::vector<std::size_t>{5});
  CHECK(inner.parent == 4);
  CHECK(outer.self_time == outer.duration() - inner.duration());
}

TEST_CASE("operators are within the span around them") {
  Profile profile;
  {
    const Span span("forward");
    relu(ones({2}));
  }
  const Events events = profile.events();
  CHECK(named(events, "forward").children == std::vector<std::size_t>{1, 2});
  CHECK(named(events, "aten::ones").parent == 0);
}

TEST_CASE("shapes of inputs are recorded on request") {
  const Tensor a = ones({3, 4}), b = ones({4});
  Profile with({.record_shapes = true});
  a + b;
  with.end();
  const Profile without;
  a + b;
  CHECK(with.events()[0].input_shapes == Shapes{{3, 4}, {4}});
  CHECK(without.events()[0].input_shapes.empty());
}

TEST_CASE("the memory of an operator is what it has allocated and not freed, on request") {
  const Tensor a = ones({1000}), b = ones({1000}), c = ones({100'000});
  Profile with({.profile_memory = true});
  {
    const Span span("both");
    Tensor sum = a + b;
    c * 2;
  }
  with.end();
  Profile without;
  a + b;
  without.end();
  const Events events = with.events();
  CHECK(named(events, "aten::add").cpu_memory == 4000);
  CHECK(named(events, "aten::mul").cpu_memory == 400'000);
  CHECK(named(events, "both").cpu_memory == 0);
  CHECK(named(events, "both").self_cpu_memory == -404'000);
  CHECK(named(events, "aten::add").device_memory == 0);
  CHECK(named(without.events(), "aten::add").cpu_memory == 0);
}

TEST_CASE("a device's memory and time are separate, and every operator is one kernel on the current one") {
  distrun::testing::use_gpus();
  const device::DeviceGuard guard(device::cuda(1));
  const Tensor a = cuda(ones({100})), b = ones({100});
  Profile profile({.profile_memory = true, .device_time = true});
  Tensor kept = a + a;
  b + b;
  relu(b);
  { const Span span("host"); }
  profile.end();
  const Events events = profile.events();
  REQUIRE(events.size() == 5);
  CHECK(events[0].device_memory >= 400);
  CHECK(events[0].cpu_memory == 0);
  CHECK(events[1].device_memory == 0);
  for (std::size_t i = 0; i < 4; ++i) {
    INFO(events[i].name);
    REQUIRE(events[i].kernels.size() == 1);
    CHECK(events[i].kernels[0].device == 1);
    CHECK(events[i].kernels[0].name == events[i].name);
    CHECK(events[i].kernels[0].duration == events[i].device_time);
    CHECK(events[i].device_time.count() > 0);
  }
  CHECK(events[2].self_device_time == events[2].device_time - events[3].device_time);
  CHECK(events[4].kernels.empty());
  CHECK(profile.events()[0].kernels.size() == 1);  // asked again
}

TEST_CASE("nodes of a backward pass are events, with the numbers of the operators that made them") {
  const Tensor a = set_requires_grad(ones({2}));
  Profile profile;
  const Tensor loss = sum(a * a);
  backward(loss);
  profile.end();
  const Events events = profile.events();
  CHECK(named(events, "MulBackward0").sequence == named(events, "aten::mul").sequence);
  CHECK(named(events, "SumBackward0").sequence == named(events, "aten::sum").sequence);
  CHECK(named(events, "SumBackward0").begin < named(events, "MulBackward0").begin);
}

TEST_CASE("other threads' operators are not recorded, and without a profile no hook is set") {
  CHECK(autograd::detail::scope_hook.load() == nullptr);
  {
    const Profile profile;
    CHECK(autograd::detail::scope_hook.load() != nullptr);
    base::Thread("other", [] { ones({2}) + 1; }).join();
    CHECK(profile.events().empty());
  }
  CHECK(autograd::detail::scope_hook.load() == nullptr);
  CHECK(tensor::detail::watcher.load() == nullptr);
}

TEST_CASE("two profiles that end in either order record as long as one is active") {
  auto first = std::make_unique<Profile>();
  auto second = std::make_unique<Profile>();
  first.reset();
  ones({2}) + 1;
  CHECK(names_in(second->events()) == std::vector<std::string>{"aten::ones", "aten::add"});
  second.reset();
  core::thread_state().profiler = nullptr;
  CHECK(autograd::detail::scope_hook.load() == nullptr);
}

class Counting final : public autograd::ScopeHook {
 public:
  void* enter(const autograd::Scope&) noexcept override { return ++entered, this; }
  void leave(void* what) noexcept override { left += what == this ? 1 : 0; }
  int entered = 0, left = 0;
};

TEST_CASE("an earlier hook is still called for operators, and is still set afterwards") {
  static Counting counting;
  REQUIRE(autograd::set_scope_hook(&counting) == nullptr);
  const Tensor a = ones({2});
  {
    const Profile profile;
    a + a;
    CHECK(names_in(profile.events()) == std::vector<std::string>{"aten::add"});
  }
  a + a;
  CHECK(autograd::set_scope_hook(nullptr) == &counting);
  CHECK(counting.entered == 2);
  CHECK(counting.left == 2);
}

TEST_CASE("an operator ends in the profile that it began in, also when the profile ends meanwhile") {
  auto profile = std::make_unique<Profile>();
  {
    const autograd::OperatorScope scope("slow");
    profile->end();
  }
  CHECK(names_in(profile->events()) == std::vector<std::string>{"aten::slow"});
}

}  // namespace
}  // namespace distrun::profiler
