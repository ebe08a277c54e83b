#pragma once
// The judge's sentences: one line each, the first cause first.
#include <string>
#include <vector>

#include <distrun/runner/record/record.hpp>

namespace distrun::runner {

// What a rank did, to follow its name: " failed: token is lost (ring.cpp:41)".
std::string describe_deed(const RankRecord& rank);

// "rank 2 failed: token is lost (ring.cpp:41); rank 3 failed too". The first culprit is the cause.
std::string describe_cause(const AttemptRecord& attempt, const std::vector<int>& culprits);
// "rank 0 ran past the bound of 1.0 s in body, waiting in barrier "x" for rank 1 in set-up".
std::string describe_awaited(const AttemptRecord& attempt, const RankRecord& cause, const std::vector<int>& awaited);
// "rank 1 finished without entering barrier "x"; ranks 0, 2-3 waited there".
std::string describe_early_leaver(const AttemptRecord& attempt, const RankRecord& follower);
// "outcomes disagree: rank 1 skipped (no network), rank 0 passed".
std::string describe_disagreement(const AttemptRecord& attempt, const RankRecord& skipped);
// What a crashed rank's handler has told: "null pointer (address 0x0) in f (x.cpp:7)"; empty if it told nothing.
std::string crash_text(const RankRecord& rank);
// "left behind: process 4711 (sleep 100), file /tmp/x".
std::string describe_leaks(const std::vector<Leak>& leaks);

}  // namespace distrun::runner
