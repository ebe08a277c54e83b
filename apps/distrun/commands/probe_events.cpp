#include "probe_events.hpp"

#include <distrun/common/base/probe.hpp>

namespace distrun::cli {

void ProbeEvents::on_attempt_start([[maybe_unused]] const runner::AttemptStart& start) {
  DISTRUN_PROBE(attempt_start, start.id.c_str(), start.n, start.world_size);
}

void ProbeEvents::on_rank_start([[maybe_unused]] const std::string& id, int,
                                [[maybe_unused]] const runner::RankRecord& rank) {
  DISTRUN_PROBE(rank_start, id.c_str(), rank.rank, rank.pid);
}

void ProbeEvents::on_rank_end([[maybe_unused]] const std::string& id, int,
                              [[maybe_unused]] const runner::RankRecord& rank) {
  DISTRUN_PROBE(rank_end, id.c_str(), rank.rank, name_of(rank.outcome.kind));
}

void ProbeEvents::on_test_end(const runner::TestRecord& test) {
  [[maybe_unused]] const std::string id = test.info.id();
  DISTRUN_PROBE(verdict, id.c_str(), name_of(test.verdict), test.duration.count());
}

}  // namespace distrun::cli
