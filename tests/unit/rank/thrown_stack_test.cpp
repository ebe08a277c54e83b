#include <catch2/catch.hpp>

#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <vector>

#include <distrun/plugin/rank/modules.hpp>
#include <distrun/plugin/rank/thrown_stack.hpp>

using distrun::rank::thrown_stack;

namespace {

void somewhere() {}

distrun_error error_at(const std::vector<std::uint64_t>& pcs) {
  distrun_error error{};
  error.size = sizeof error;
  error.abi = DISTRUN_ABI;
  error.pcs = pcs.data();
  error.pc_count = pcs.size();
  return error;
}

}  // namespace

TEST_CASE("the stack of a throw is sent with the throwing thread, and each file with its code once") {
  distrun::rank::remember_modules();
  const auto own = reinterpret_cast<std::uint64_t>(&somewhere);
  const auto library = reinterpret_cast<std::uint64_t>(&std::abort);
  const std::vector<std::uint64_t> pcs = {library + 1, own, own + 1, 0, 1};
  const auto stacks = thrown_stack(error_at(pcs));
  CHECK(stacks.pid == ::getpid());
  REQUIRE(stacks.threads.size() == 1);
  CHECK(stacks.threads.front().tid == ::gettid());
  CHECK(stacks.threads.front().pcs == pcs);
  REQUIRE(stacks.modules.size() == 2);
  CHECK_THAT(stacks.modules.back().path, Catch::EndsWith("/unit_rank"));
}

TEST_CASE("an error without a stack has no thread, and neither has one of an older plugin") {
  CHECK(thrown_stack(error_at({})).threads.empty());
  const std::vector<std::uint64_t> pcs = {1, 2};
  distrun_error old = error_at(pcs);
  old.size = offsetof(distrun_error, pcs);
  CHECK(thrown_stack(old).threads.empty());
}

TEST_CASE("addresses beyond the limit of a stack are cut off") {
  const std::vector<std::uint64_t> pcs(1000, 7);
  CHECK(thrown_stack(error_at(pcs)).threads.front().pcs.size() == 128);
}
