// The backends by name: which there are, and what users are told of those that cannot do something.
#include <catch2/catch.hpp>

#include <algorithm>
#include <optional>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/collectives/backends.hpp>
#include <distrun/runtime/collectives/monitored_barrier.hpp>
#include <distrun/runtime/collectives/process_group.hpp>
#include <distrun/runtime/core/backends.hpp>
#include <distrun/runtime/store/hash_store.hpp>
#include <distrun/runtime/tensor/core/factories.hpp>

#include "support/error_of.hpp"
#include "support/gpus.hpp"
#include "unit/core/fake_rank_line.hpp"

namespace distrun::collectives {
namespace {

using namespace std::chrono_literals;

// A group of one rank on virtual GPUs, where the backend nccl needs no library.
struct OnGpu {
  OnGpu() {
    testing::use_gpus();
    group.emplace(GroupInfo{"alone", 0, {0}}, std::make_shared<HashStore>(), GroupOptions{"nccl", 30s});
  }
  Tensor ones(DType dtype = DType::F32) const { return tensor::ones({2}, {dtype, group->device()}); }

  testing::FakeRank rank;
  std::optional<ProcessGroup> group;
};

void check_refused(const Error& error, const std::string& text) {
  CHECK(error.kind() == ErrorKind::InvalidArgument);
  CHECK(error.type() == "ValueError");
  CHECK(error.text() == text);
}

Error creation_error(const std::string& backend) {
  HashStore store;
  return testing::error_of([&] { make_backend(backend, {"world", 0, {0}}, store, base::system_clock().now() + 30s); });
}

TEST_CASE("a tensor on the CPU is refused by nccl, with the device it needs and the backends that take it") {
  OnGpu on;
  const std::string why =
      "backend nccl needs tensors on GPUs, but a tensor is on the cpu; move it to cuda:0, or use backend shm or gloo";
  const auto all_reduce = [&] { on.group->all_reduce(tensor::ones({2})); };
  check_refused(testing::error_of(all_reduce), "all_reduce: " + why);
  const auto coalesced = [&] { on.group->all_reduce_coalesced({on.ones(), tensor::ones({2})}); };
  check_refused(testing::error_of(coalesced), "all_reduce: " + why);
  check_refused(testing::error_of([&] { on.group->send(tensor::ones({2}), 0); }), "send: " + why);
  on.group->all_reduce(on.ones()).wait(30s);
}

TEST_CASE("what nccl lacks is refused with its name, and the group remains usable") {
  OnGpu on;
  const auto coalesced = [&] { on.group->all_gather_coalesced({{on.ones()}}, {on.ones()}); };
  check_refused(testing::error_of(coalesced),
                "all_gather: of several tensors at once is not supported by backend nccl");
  const auto from_any = [&] { on.group->receive_from_any(on.ones()); };
  check_refused(testing::error_of(from_any), "receive: from any rank is not supported by backend nccl; name the rank");
  check_refused(testing::error_of([&] { monitored_barrier(*on.group); }),
                "monitored_barrier supports only backends for host memory (shm, threads, gloo), not nccl");
  check_refused(testing::error_of([&] { on.group->all_reduce(on.ones(DType::I32), ReduceOp::BitAnd); }),
                "all_reduce: cannot use band with NCCL, which supports sum, product, min, max and avg");
  on.group->all_reduce(on.ones()).wait(30s);
  on.group->settle();
}

TEST_CASE("a backend that distrun does not have says why, and is told from an unknown one") {
  CHECK(why_no_backend("shm").empty());
  CHECK(why_no_backend("threads").empty());
  const Error mpi = creation_error("mpi");
  CHECK(mpi.kind() == ErrorKind::Unimplemented);
  CHECK(mpi.type() == "RuntimeError");
  CHECK(mpi.text() ==
        "backend mpi: this distrun was built without MPI, and its ranks are not started by mpirun; shm does the same");
  CHECK(creation_error("ucc").text() ==
        "backend ucc: this distrun was built without UCC; shm does the same on one machine");
  check_refused(
      creation_error("glo"),
      "backend glo: unknown backend \"glo\"; expected shm, gloo, nccl, mpi, ucc, threads; did you mean gloo?");
  check_refused(creation_error("smoke"),
                "backend smoke: unknown backend \"smoke\"; expected shm, gloo, nccl, mpi, ucc, threads");
}

TEST_CASE("the backends that this distrun has are listed, with the version of what nccl does on virtual GPUs") {
  const std::vector<core::Backend> all = core::backends();
  const auto version_of = [&](const std::string& name) -> std::optional<std::array<int, 3>> {
    const auto found = std::find_if(all.begin(), all.end(), [&](const auto& each) { return each.name == name; });
    return found == all.end() ? std::nullopt : std::optional(found->version);
  };
  CHECK(version_of("shm") == std::array{0, 0, 0});
  CHECK(version_of("threads") == std::array{0, 0, 0});
  CHECK(version_of("nccl") == std::array{2, 28, 9});
  CHECK(version_of("gloo").has_value() == why_no_backend("gloo").empty());
  CHECK(!version_of("mpi"));
  CHECK(!version_of("ucc"));
}

}  // namespace
}  // namespace distrun::collectives
