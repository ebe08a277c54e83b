// One body for every element of a product of settings.
#include <distrun/test.hpp>

#include <string>
#include <vector>

DISTRUN_TEST(Subtests, run_every_element_and_the_last_axis_changes_fastest) {
  rank.note("rows", "[row:helpers/run_subtests-inst-config-fn-args...-kwargs]");
  std::vector<std::string> seen;
  const distrun::Product settings({distrun::axis("shard", {"full", "none"}), distrun::axis("async", {true, false})});
  distrun::run_subtests(rank, settings, [&](const distrun::Parameters& element) {
    seen.push_back(element.to_string());
    DISTRUN_EXPECT(!element.text("shard").empty());
  });
  const std::vector<std::string> wanted{"shard=full,async=true", "shard=full,async=false", "shard=none,async=true",
                                        "shard=none,async=false"};
  DISTRUN_EXPECT((seen == wanted));
}

// A rank that finishes an element early waits for the others before the next.
DISTRUN_TEST(Subtests, all_ranks_meet_after_each_element) {
  rank.note("rows", "[row:helpers/run_subtests-inst-config-fn-args...-kwargs]");
  const distrun::Product rounds({distrun::axis("round", {0, 1, 2})});
  distrun::run_subtests(rank, rounds, [&](const distrun::Parameters& element) {
    const std::string& round = element.text("round");
    if (!rank.is_master()) return rank.send(0, "round", round);
    for (int other = 1; other < rank.world_size(); ++other) {
      DISTRUN_EXPECT(rank.receive_from_any("round").data == round);
    }
  });
}
