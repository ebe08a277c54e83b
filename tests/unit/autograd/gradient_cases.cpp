#include "gradient_cases.hpp"

#include <catch2/catch.hpp>

namespace distrun::test {
namespace {

constexpr int kSeeds = 12;
// Numbers of seeds for gradients of gradients, which take several passes for each element.
constexpr int kSecondSeeds = 3, kSecondSeedsOfGpu = 1;

void check_all(const Cases& cases, Device device) {
  for (const auto& [name, make_case] : cases) {
    for (int seed = 0; seed < kSeeds; ++seed) {
      INFO(name << ", seed " << seed << ", on " << to_string(device));
      RandomTensors random(base::derive_seed(static_cast<std::uint64_t>(seed), name));
      const Case made = make_case(random);
      check_gradients(made.function, made.inputs, device, random);
    }
  }
}

// Gradients of gradients of sparse tensors are refused.
void check_all_twice(const Cases& cases, Device device, int seeds) {
  for (const auto& [name, make_case] : cases) {
    const bool is_refused = name.find("sparse") != std::string::npos;
    for (int seed = 0; seed < seeds; ++seed) {
      INFO("gradients of gradients of " << name << ", seed " << seed << ", on " << to_string(device));
      RandomTensors random(base::derive_seed(static_cast<std::uint64_t>(seed), name + " twice"));
      const Case made = make_case(random);
      if (is_refused) {
        CHECK_THROWS_WITH(check_second_gradients(made.function, made.inputs, device, random),
                          Catch::Contains("there are no gradients of gradients (create_graph) of sparse tensors"));
      } else {
        check_second_gradients(made.function, made.inputs, device, random);
      }
    }
  }
}

}  // namespace

MakeCase binary(std::function<Tensor(const Tensor&, const Tensor&)> function) {
  return [function](RandomTensors& random) {
    const Dims sizes = random.sizes(static_cast<std::size_t>(random.size(0, 3)));
    const bool first_is_whole = random.chance(0.5);
    const Dims other = random.narrower(sizes);
    const Function run = [function](const TensorList& in) { return one(function(in[0], in[1])); };
    return Case{run, {random.tensor(first_is_whole ? sizes : other), random.tensor(first_is_whole ? other : sizes)}};
  };
}

MakeCase in_place(std::function<void(const Tensor&, const Tensor&)> function) {
  return [function](RandomTensors& random) {
    const Dims sizes = random.sizes(static_cast<std::size_t>(random.size(0, 3)));
    const Function run = [function](const TensorList& in) {
      const Tensor copy = clone(in[0]);
      function(copy, in[1]);
      return one(copy);
    };
    return Case{run, {random.tensor(sizes), random.tensor(random.narrower(sizes))}};
  };
}

MakeCase unary(std::function<Tensor(const Tensor&)> function, std::size_t least_rank) {
  return [function, least_rank](RandomTensors& random) {
    const Dims sizes = random.sizes(static_cast<std::size_t>(random.size(static_cast<std::int64_t>(least_rank), 3)));
    const Function run = [function](const TensorList& in) { return one(function(in[0])); };
    return Case{run, {random.tensor(sizes)}};
  };
}

MakeCase sized(MakeSizes sizes, Function function) {
  return [sizes, function](RandomTensors& random) {
    const auto size = [&random] { return random.chance(0.05) ? 0 : random.size(1, 4); };
    TensorList inputs;
    for (const Dims& each : sizes(size(), size(), size(), size())) inputs.push_back(random.tensor(each));
    return Case{function, inputs};
  };
}

void check_on_all_devices(const Cases& cases) {
  check_all(cases, device::kCpu);
  check_all(cases, gpu());
  check_all_twice(cases, device::kCpu, kSecondSeeds);
  check_all_twice(cases, gpu(), kSecondSeedsOfGpu);
  CHECK(order_reports().empty());
}

}  // namespace distrun::test
