#include <catch2/catch.hpp>

#include <distrun/runner/nodes/engine.hpp>

#include "support/error_of.hpp"

namespace distrun::nodes {
namespace {

using Words = std::vector<std::string>;
using testing::error_of;

const NodeProgram kNode{"/opt/distrun/bin/distrun", {"10.0.0.1:4711", "[::1]:4711"}};

TEST_CASE("a launcher is one of three names or a command") {
  CHECK(parse_engine("--launcher", "local").kind == EngineKind::Local);
  CHECK(parse_engine("--launcher", "ssh").kind == EngineKind::Ssh);
  CHECK(parse_engine("--launcher", "slurm").kind == EngineKind::Slurm);
  for (const char* text : {"docker exec -i {host} {node}", "./start", "rsh {host}", "start{host}"}) {
    const Engine engine = parse_engine("--launcher", text);
    CHECK(engine.kind == EngineKind::Command);
    CHECK(engine.command == text);
  }
  CHECK_THAT(error_of([] { parse_engine("--launcher", "shh"); }).text(),
             Catch::StartsWith("--launcher shh: expected local, ssh, slurm, or a command for each host") &&
                 Catch::Contains("did you mean ssh?"));
  CHECK_THROWS_AS(parse_engine("--launcher", ""), Error);
}

TEST_CASE("a local node is a process of this machine for each name") {
  const auto commands = engine_commands({EngineKind::Local, ""}, {"a", "b"}, kNode);
  REQUIRE(commands.size() == 2);
  CHECK(commands[1].hosts == Words{"b"});
  CHECK(commands[1].words ==
        Words{"/opt/distrun/bin/distrun", "node", "--join", "10.0.0.1:4711,[::1]:4711", "--host", "b", "--own-tmp"});
}

TEST_CASE("ssh gets one word that the remote shell reads") {
  const NodeProgram node{"/opt/my tools/distrun", {"10.0.0.1:4711"}};
  const auto commands = engine_commands({EngineKind::Ssh, ""}, {"node01"}, node);
  REQUIRE(commands.size() == 1);
  CHECK(commands[0].words == Words{"ssh", "-o", "BatchMode=yes", "node01",
                                   "exec '/opt/my tools/distrun' node --join 10.0.0.1:4711 --host node01"});
}

TEST_CASE("one srun starts the nodes of all hosts") {
  const auto commands = engine_commands({EngineKind::Slurm, ""}, {"n1", "n2"}, kNode);
  REQUIRE(commands.size() == 1);
  CHECK(commands[0].hosts == Words{"n1", "n2"});
  CHECK(commands[0].words == Words{"srun",
                                   "--overlap",
                                   "--mpi=none",
                                   "--cpu-bind=none",
                                   "--kill-on-bad-exit=0",
                                   "--no-kill",
                                   "--wait=0",
                                   "-N",
                                   "2",
                                   "-n",
                                   "2",
                                   "--ntasks-per-node=1",
                                   "--nodelist=n1,n2",
                                   "/bin/sh",
                                   "-c",
                                   R"(exec "$0" "$@" --host "$SLURMD_NODENAME")",
                                   "/opt/distrun/bin/distrun",
                                   "node",
                                   "--join",
                                   "10.0.0.1:4711,[::1]:4711"});
}

TEST_CASE("a command of the user gets the host and the node's command, also without saying where") {
  const NodeProgram node{"/opt/my tools/distrun", {"h:1"}};
  const std::string started = "'/opt/my tools/distrun' node --join h:1 --host box";
  struct Row {
    const char* command;
    std::string expected;
  };
  const std::vector<Row> rows{
      {"docker exec -i {host} {node}", "docker exec -i box " + started},
      {"ssh -J gate {host}", "ssh -J gate box " + started},
      {"echo {host}-{host}; {node} &", "echo box-box; " + started + " &"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.command);
    const auto commands = engine_commands({EngineKind::Command, row.command}, {"box"}, node);
    REQUIRE(commands.size() == 1);
    CHECK(commands[0].words == Words{"/bin/sh", "-c", row.expected});
  }
}

}  // namespace
}  // namespace distrun::nodes
