// How users reach a rank on another host.
#include <catch2/catch.hpp>

#include "commands/reach.hpp"

using namespace distrun;
using namespace distrun::cli;

namespace {

wire::RankStatus on_node02() {
  wire::RankStatus rank;
  rank.rank = 5;
  rank.pid = 4711;
  rank.host = "node02";
  return rank;
}

}  // namespace

TEST_CASE("a user reaches another host by what has started its node") {
  CHECK(reach_of({nodes::EngineKind::Ssh, ""}, "") == "ssh -t {host}");
  CHECK(reach_of({nodes::EngineKind::Slurm, ""}, "77") ==
        "srun --jobid=77 --overlap --nodes=1 --ntasks=1 --nodelist={host} --pty");
  CHECK(reach_of({nodes::EngineKind::Slurm, ""}, "") == "srun --overlap --nodes=1 --ntasks=1 --nodelist={host} --pty");
  CHECK(reach_of({nodes::EngineKind::Command, "docker exec {host} {node}"}, "").empty());
  CHECK(reach_of({}, "").empty());
}

TEST_CASE("attaching to a rank on another host is a command for the user") {
  CHECK(attach_text("ssh -t {host}", on_node02()) ==
        "rank 5 runs on node02 (pid 4711), not on this machine; run ssh -t node02 gdb -q -p 4711; timeouts are "
        "suspended while gdb is attached");
  CHECK_THAT(attach_text("", on_node02()), Catch::Contains("; run gdb -q -p 4711 on node02; "));
}
