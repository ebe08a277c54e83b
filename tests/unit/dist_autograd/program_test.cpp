// The gradients of a program on several ranks equal those on one.
#include "program.hpp"
#include "autograd_ranks.hpp"
#include "support/environment.hpp"

namespace distrun::dist_autograd {
namespace {

// Returns the difference of two lists of gradients; an unused leaf must lack one in both.
std::string what_differs(const TensorList& got, const TensorList& wanted, const std::string& what) {
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const std::string name = what + " " + std::to_string(i) + ": ";
    if (got[i].defined() != wanted[i].defined()) return name + (got[i].defined() ? "is present" : "is missing");
    if (!wanted[i].defined()) continue;
    if (std::string text = differs(to_dense(got[i]), to_dense(wanted[i])); !text.empty()) return name + text;
  }
  return "";
}

void check_programs(bool uses_all, const std::vector<Mode>& modes, unsigned long seeds_asked,
                    const std::string& faults = "") {
  const auto seeds = static_cast<std::uint32_t>(distrun::testing::number_of("DISTRUN_PROGRAM_SEEDS", seeds_asked));
  const AutogradRanks ranks(4, faults);
  for (std::uint32_t seed = 0; seed < seeds; ++seed) {
    const Program program = make_program(seed, 1 + static_cast<int>(seed % 4), uses_all);
    const ProgramGradients wanted = run_on_one(program, seed);
    for (const Mode mode : modes) {
      ProgramGradients got;
      const std::string error = ranks.error_as(0, [&] { got = run_on_several(program, seed, mode); });
      INFO("seed " << seed << (mode == Mode::Fast ? ", FAST" : ", SMART") << "\n" << to_string(program));
      REQUIRE(error == "");
      REQUIRE(what_differs(got.of_leaves, wanted.of_leaves, "the gradient of leaf") == "");
      REQUIRE(what_differs(got.of_weights, wanted.of_weights, "the gradient of the weight of worker") == "");
    }
  }
  CHECK(ranks.left_over() == "");
}

TEST_CASE("gradients of random programs equal those of one rank, even if some results are unused") {
  check_programs(false, {Mode::Smart}, 120);
}

TEST_CASE("gradients of programs that use all results equal those of one rank in both modes") {
  check_programs(true, {Mode::Smart, Mode::Fast}, 120);
}

TEST_CASE("gradients are the same if messages arrive late, in another order, twice or not at all") {
  const std::string faults =
      "3:drop:retriable:0.2,dup:retriable:0.2,delay:backward:0.0003,delay:reply:0.0001,delay:cleanup:0.002";
  check_programs(true, {Mode::Smart, Mode::Fast}, 30, faults);
}

}  // namespace
}  // namespace distrun::dist_autograd
