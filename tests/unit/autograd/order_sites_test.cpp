// Reports of stream order name the lines of this file that called the operators or began the pass, never those of the
// runtime that launched the kernels.
#include <algorithm>
#include <functional>
#include <string>

#include <catch2/catch.hpp>

#include <distrun/runtime/autograd/anomaly.hpp>
#include <distrun/runtime/autograd/backward.hpp>
#include <distrun/runtime/autograd/function.hpp>
#include <distrun/runtime/autograd/gradient.hpp>
#include <distrun/runtime/autograd/operators/all.hpp>
#include <distrun/runtime/device/stream.hpp>

#include "support/order_reports.hpp"

namespace distrun {
namespace {

using Catch::Matchers::Contains;

const Device kSitesGpu = device::cuda(0);

std::string at_line(int line) { return " at " __FILE__ ":" + std::to_string(line) + " on "; }

// Returns the reports while the action runs.
std::string reports_of(const std::function<void()>& action) {
  const testing::OrderReports reports;
  action();
  device::synchronize(kSitesGpu);
  return reports.text();
}

Tensor made_on_gpu() {
  testing::use_gpus();
  const Tensor made = tensor::ones({64}, {DType::F32, kSitesGpu});
  device::synchronize(kSitesGpu);
  return made;
}

TEST_CASE("both operators of a report have the lines that called them") {
  const Tensor x = made_on_gpu();
  const Stream side = device::stream_from_pool(kSitesGpu);
  int first = 0, second = 0;
  const std::string text = reports_of([&] {
    first = __LINE__ + 1;
    mul_(x, 2);
    const device::StreamGuard guard(side);
    second = __LINE__ + 1;
    const Tensor sum = x + x;
  });
  CHECK_THAT(text, Contains("the read by add" + at_line(second)) && Contains("the write by mul_" + at_line(first)));
  CHECK_THAT(text, Contains("of an allocation of ") && !Contains("/libdistrun/"));
}

void scale_in_place(const Tensor& x, int* line) {
  *line = __LINE__ + 1;
  tensor::mul_(x, 2);
}

TEST_CASE("one operator that is called from two lines is two reports, each with its line") {
  const Tensor x = made_on_gpu();
  const Stream side = device::stream_from_pool(kSitesGpu);
  int first = 0, second = 0, scaled = 0;
  const std::string text = reports_of([&] {
    for (int i = 0; i < 3; ++i) {
      device::synchronize(kSitesGpu);
      scale_in_place(x, &scaled);
      const device::StreamGuard guard(side);
      if (i % 2 == 0) {
        first = __LINE__ + 1;
        const Tensor half = x * 0.5;
      } else {
        second = __LINE__ + 1;
        const Tensor half = x * 0.5;
      }
    }
  });
  CHECK_THAT(text, Contains(at_line(first)) && Contains(at_line(second)) && Contains(at_line(scaled)));
  CHECK(std::count(text.begin(), text.end(), '\n') == 2);
}

TEST_CASE("copies and conversions have the lines that called them") {
  const Tensor x = made_on_gpu(), y = made_on_gpu();
  const Stream side = device::stream_from_pool(kSitesGpu);
  int copied = 0, converted = 0;
  const std::string text = reports_of([&] {
    {
      const device::StreamGuard guard(side);
      copied = __LINE__ + 1;
      copy_(x, y);
    }
    converted = __LINE__ + 1;
    const Tensor there = to(x, DType::F64);
  });
  CHECK_THAT(text, Contains("the write by copy" + at_line(copied)) && Contains(at_line(converted)));
}

// A pass that is not ordered before the user's later changes.
TEST_CASE("work of a backward pass has the line that began it, and the formula") {
  const Tensor x = set_requires_grad(made_on_gpu()), factor = made_on_gpu();
  const Stream side = device::stream_from_pool(kSitesGpu);
  const Tensor loss = sum(x * factor);
  device::synchronize(kSitesGpu);
  int begun = 0, changed = 0;
  const std::string text = reports_of([&] {
    begun = __LINE__ + 1;
    backward(loss);
    const device::StreamGuard guard(side);
    changed = __LINE__ + 1;
    add_(factor, 1);
  });
  CHECK_THAT(text, Contains("the write by add_" + at_line(changed)));
  CHECK_THAT(text, Contains("the read by mul in MulBackward0" + at_line(begun)));
}

TEST_CASE("in anomaly mode a formula also has the line of its forward call") {
  const Tensor x = set_requires_grad(made_on_gpu()), factor = made_on_gpu(), gradient = made_on_gpu();
  const Stream side = device::stream_from_pool(kSitesGpu);
  const autograd::AnomalyGuard checked;
  const int made = __LINE__ + 1;
  const Tensor result = x * factor;
  device::synchronize(kSitesGpu);
  const std::string text = reports_of([&] {
    {
      const device::StreamGuard guard(side);
      add_(gradient, 1);
    }
    backward(result, gradient);
  });
  CHECK_THAT(text, Contains("the read by mul in MulBackward0 (made at " __FILE__ ":" + std::to_string(made) + ") at "));
}

TEST_CASE("user code that runs within a pass has its own line") {
  const Tensor x = set_requires_grad(made_on_gpu()), seen = made_on_gpu();
  const Stream side = device::stream_from_pool(kSitesGpu);
  int in_hook = 0;
  register_hook(x, [&](const Tensor& gradient) {
    in_hook = __LINE__ + 1;
    tensor::add_(seen, gradient);
    return Tensor();
  });
  const Tensor loss = sum(x * 2);
  const std::string text = reports_of([&] {
    backward(loss);
    const device::StreamGuard guard(side);
    tensor::mul_(seen, 2);
  });
  CHECK_THAT(text, Contains("the write by add_ in torch::autograd::AccumulateGrad" + at_line(in_hook)));
}

}  // namespace
}  // namespace distrun
