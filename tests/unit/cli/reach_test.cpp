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
  CHECK(reach_of({nodes::EngineKind::Command, "docker exec {host} {node}"}, "") == "docker exec {host} {node}");
  CHECK(is_here(reach_of({}, "")));
  CHECK_FALSE(is_here("ssh -t {host}"));
}

TEST_CASE("gdb is started on another host by the command that reaches it") {
  CHECK(attach_command("ssh -t {host}", on_node02()) == "ssh -t node02 gdb -q -p 4711");
  CHECK(attach_command("[ {host} != a ] && rsh {host} {node} 2>&1", on_node02()) ==
        "[ node02 != a ] && rsh node02 gdb -q -p 4711 2>&1");
  CHECK(attach_command("{node}", on_node02()) == "gdb -q -p 4711");
  CHECK(attach_command("", on_node02()).empty());
}

TEST_CASE("without a terminal, attaching to a rank on another host is a command for the user") {
  CHECK(attach_text("ssh -t {host}", on_node02()) ==
        "rank 5 runs on node02 (pid 4711), not on this machine, and gdb needs a terminal there; in one, run ssh -t "
        "node02 gdb -q -p 4711; timeouts are suspended while gdb is attached");
  CHECK_THAT(attach_text("", on_node02()), Catch::Contains("; in one, run gdb -q -p 4711 on node02; "));
}
