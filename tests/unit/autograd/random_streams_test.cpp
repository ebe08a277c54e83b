// Random programs with passes over operators on random streams of two devices: they read the same gradients as on the
// default streams, and no access is out of order. streams_control_test.cpp shows which faults they detect.
#include <catch2/catch.hpp>

#include <distrun/runtime/autograd/backward.hpp>
#include <distrun/runtime/autograd/operators/all.hpp>

#include "central_differences.hpp"
#include "stream_programs.hpp"

namespace distrun {
namespace {

using testing::StreamProgram;
using testing::Streams;

void check_same(const TensorList& got, const TensorList& expected) {
  REQUIRE(got.size() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) CHECK(equal(got[i], expected[i]));
}

}  // namespace

TEST_CASE("random programs over streams and devices read the gradients that they read on the default streams") {
  test::gpu();
  for (const StreamProgram& program : testing::kStreamPrograms) {
    for (std::uint32_t seed = 0; seed < 20; ++seed) {
      INFO(program.name << ", seed " << seed);
      check_same(program.run(seed, Streams::Random), program.run(seed, Streams::Default));
      REQUIRE(test::order_reports() == std::vector<std::string>{});
    }
  }
}

TEST_CASE("a gradient that another stream still reads is not added to in place") {
  test::gpu();
  const Device device = device::cuda(0);
  const Stream home = device::current_stream(device), a = device::stream_from_pool(device),
               b = device::stream_from_pool(device);
  for (int round = 0; round < 20; ++round) {
    const Tensor w = set_requires_grad(ones({testing::kGraphElements}, {DType::F64, device}));
    device::Event ready;
    ready.record(home);
    Tensor u, x;
    const auto made_on = [&](Stream stream, double factor) {
      ready.block(stream);
      w.record_stream(stream);
      const device::StreamGuard guard(stream);
      const Tensor made = w * factor;
      device::Event done;
      done.record(stream);
      done.block(home);
      made.record_stream(home);
      return made;
    };
    u = made_on(a, 2);
    x = made_on(b, 3);
    const Tensor p = sum(u * 5), q = sum(x * 7), z = sum(-(u + x));
    backward(p + q + z);
    CHECK(equal(cpu(grad(w)), full({testing::kGraphElements}, 2.0 * (5 - 1) + 3.0 * (7 - 1), {DType::F64})));
  }
  CHECK(test::order_reports() == std::vector<std::string>{});
}

}  // namespace distrun
