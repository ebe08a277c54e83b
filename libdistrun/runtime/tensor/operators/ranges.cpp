#include <distrun/runtime/tensor/operators/ranges.hpp>

#include <cmath>

#include <distrun/runtime/tensor/core/launch.hpp>
#include <distrun/runtime/tensor/core/shape.hpp>
#include <distrun/runtime/tensor/core/watch.hpp>

namespace distrun::tensor::plain {
namespace {

template <class T, class NumberAt>
void launch_numbers(const char* op, const Tensor& out, NumberAt number_at) {
  if (out.numel() == 0) return;
  launch(op, std::array{writes(out)}, [count = out.numel(), number_at](Addresses data) {
    T* const to = reinterpret_cast<T*>(data[0]);
    for (std::int64_t i = 0; i < count; ++i) to[i] = static_cast<T>(number_at(i));
  });
}

// First number, step and count; Number is std::int64_t or double.
template <class Number>
struct Steps {
  Number start, step;
  std::int64_t count;
};

// Correct even if the difference exceeds an int64: unsigned arithmetic wraps to it.
Steps<std::int64_t> whole_steps(const Scalar& start, const Scalar& end, const Scalar& step) {
  const auto first = start.to<std::int64_t>(), last = end.to<std::int64_t>(), by = step.to<std::int64_t>();
  const auto unsign = [](std::int64_t number) { return static_cast<std::uint64_t>(number); };
  const std::uint64_t distance = by > 0 ? unsign(last) - unsign(first) : unsign(first) - unsign(last);
  const std::uint64_t size = by > 0 ? unsign(by) : 0 - unsign(by);
  const std::uint64_t count = distance == 0 ? 0 : (distance - 1) / size + 1;
  if (count > INT64_MAX) refuse("arange", "the range has more numbers than can be counted", {});
  return {first, by, static_cast<std::int64_t>(count)};
}

Steps<double> fractional_steps(const Scalar& start, const Scalar& end, const Scalar& step) {
  const auto first = start.to<double>(), last = end.to<double>(), by = step.to<double>();
  const double count = std::ceil((last - first) / by);
  if (count >= 0x1p62) refuse("arange", "the range has more numbers than can be counted", {});
  return {first, by, static_cast<std::int64_t>(count)};
}

bool are_whole(const Scalar& start, const Scalar& end, const Scalar& step) {
  return !start.is_floating() && !end.is_floating() && !step.is_floating();
}

template <class Number>
bool leads_to_end(const Scalar& start, const Scalar& end, const Scalar& step) {
  const auto first = start.to<Number>(), last = end.to<Number>();
  return step.to<Number>() > 0 ? last >= first : last <= first;
}

void check_range(const Scalar& start, const Scalar& end, const Scalar& step) {
  const auto first = start.to<double>(), last = end.to<double>(), by = step.to<double>();
  if (by == 0) refuse("arange", "the step must not be 0", {});
  if (!std::isfinite(first) || !std::isfinite(last) || !std::isfinite(by)) {
    refuse("arange", "there is no range from " + to_string(start) + " to " + to_string(end) + " by " + to_string(step),
           {});
  }
  if (are_whole(start, end, step) ? leads_to_end<std::int64_t>(start, end, step)
                                  : leads_to_end<double>(start, end, step)) {
    return;
  }
  refuse("arange", "from " + to_string(start) + " a step of " + to_string(step) + " leads away from " + to_string(end),
         {});
}

template <class Number>
Tensor stepped(const Steps<Number>& steps, TensorOptions options) {
  const Tensor out = empty({steps.count}, options);
  if (steps.count > 0) {
    for (const std::int64_t i : {std::int64_t{0}, steps.count - 1}) {
      check_fits("arange", steps.start + static_cast<Number>(i) * steps.step, options.dtype);
    }
  }
  visit(options.dtype, [&](auto zero) {
    launch_numbers<decltype(zero)>(
        "arange", out, [steps](std::int64_t i) { return steps.start + static_cast<Number>(i) * steps.step; });
  });
  return out;
}

}  // namespace

Tensor arange(const Scalar& start, const Scalar& end, const Scalar& step) {
  return arange(start, end, step, {are_whole(start, end, step) ? DType::I64 : DType::F32, device::kCpu});
}

Tensor arange(const Scalar& start, const Scalar& end, const Scalar& step, TensorOptions options) {
  const MakerScope scope("arange");
  check_range(start, end, step);
  return are_whole(start, end, step) ? stepped(whole_steps(start, end, step), options)
                                     : stepped(fractional_steps(start, end, step), options);
}

// Computes from both ends, so that both are exact.
Tensor linspace(const Scalar& start, const Scalar& end, std::int64_t steps, TensorOptions options) {
  const MakerScope scope("linspace");
  if (steps < 0) refuse("linspace", "the number of steps must not be negative, but it is " + std::to_string(steps), {});
  check_fits("linspace", start, options.dtype);
  check_fits("linspace", end, options.dtype);
  const Tensor out = empty({steps}, options);
  const auto first = start.to<double>(), last = end.to<double>();
  const double by = steps > 1 ? (last - first) / static_cast<double>(steps - 1) : 0;
  visit(options.dtype, [&](auto zero) {
    launch_numbers<decltype(zero)>("linspace", out, [first, last, by, steps](std::int64_t i) {
      return i < steps / 2 || steps == 1 ? first + by * static_cast<double>(i)
                                         : last - by * static_cast<double>(steps - 1 - i);
    });
  });
  return out;
}

}  // namespace distrun::tensor::plain
