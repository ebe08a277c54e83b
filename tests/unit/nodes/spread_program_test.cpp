// The ranks of a program on several nodes, as the coordinator sees them; and the messages for that.
#include <catch2/catch.hpp>

#include <unistd.h>

#include <string>
#include <vector>

#include <distrun/common/base/error.hpp>
#include <distrun/runner/nodes/hosted_program.hpp>

#include "../support/loop.hpp"
#include "support/error_of.hpp"
#include "two_nodes.hpp"

namespace distrun::nodes {
namespace {

using Kind = wire::NodeFrame;
using Notes = std::vector<std::string>;

launch::WorldSpec program_spec() {
  launch::WorldSpec spec;
  spec.plugin = "train";
  spec.isolation = Isolation::Program;
  spec.world_size = 4;
  spec.program.arguments = {"train", "--epochs", "3"};
  spec.program.environment = {"PATH=/opt/bin", "HOSTNAME=head"};
  spec.program.overrides = {"LR=0.1"};
  return spec;
}

SpawnRequest sent_request() {
  TwoNodes two(false);
  two.world->begin(program_spec());
  return two.told<SpawnRequest>(1, Kind::Spawn);
}

OutputPiece piece_of(int rank, std::string text, launch::Stream stream = launch::Stream::Out) {
  return {1, rank, stream, std::move(text)};
}

}  // namespace

TEST_CASE("each node gets the program, the environment that travels, and the place of its ranks") {
  TwoNodes two(false);
  two.world->begin(program_spec());
  for (const int node : {0, 1}) {
    const auto request = two.told<SpawnRequest>(node, Kind::Spawn);
    CHECK_NOTHROW(check(request));
    CHECK(request.first_rank == 2 * node);
    CHECK(request.ranks_here == 2);
    CHECK(request.hosts == "node00=0-1;node01=2-3");
    REQUIRE(request.program);
    CHECK(request.program->arguments == Notes{"train", "--epochs", "3"});
    CHECK(request.program->environment == Notes{"PATH=/opt/bin"});
    CHECK(request.program->overrides == Notes{"LR=0.1"});
    CHECK(request.program->master_address == "10.0.0.1");
    CHECK(request.program->host == node);
  }
}

TEST_CASE("each node knows the lane of a world, by which it divides its CPUs") {
  TwoNodes two(false);
  launch::WorldSpec spec = program_spec();
  spec.lane = 3;
  two.world->begin(spec);
  for (const int node : {0, 1}) CHECK(two.told<SpawnRequest>(node, Kind::Spawn).lane == 3);
}

TEST_CASE("a node takes no welcome to a run that cannot be") {
  Welcome run;
  run.jobs = kJobsMax;
  run.bind = runner::Bind::Numa;
  CHECK_NOTHROW(check(run));
  SECTION("jobs") {
    run.jobs = GENERATE(0, -1, kJobsMax + 1);
    CHECK_THROWS_AS(check(run), Error);
  }
  SECTION("binding") {
    run.bind = static_cast<runner::Bind>(3);
    CHECK_THROWS_AS(check(run), Error);
  }
}

TEST_CASE("no rank of a program begins before every host can start it, and then all have the port of rank 0's host") {
  TwoNodes two(false);
  two.world->begin(program_spec());
  two.answer(0, Kind::Spawned, Spawned{1, {4711, 4712}});
  CHECK(two.all_told<BeginOrder>(0, Kind::Begin).empty());
  SECTION("which they can") {
    two.answer(1, Kind::Spawned, Spawned{1, {0, 0}});
    two.answer(1, Kind::Spawned, Spawned{1, {99, 99}});  // one answer counts
    for (const int node : {0, 1}) {
      const auto orders = two.all_told<BeginOrder>(node, Kind::Begin);
      REQUIRE(orders.size() == 1);
      CHECK(orders[0].master_port == 4711);
    }
    two.answer(1, Kind::RankStarted, RankStarted{1, 3, 123});
    two.answer(1, Kind::ProgramBegan, RankStarted{1, 3, 0});
    CHECK(two.events.notes == Notes{"started 3", "began 3"});
    CHECK_THROWS_AS(two.answer(1, Kind::ProgramBegan, RankStarted{1, 0, 0}), Error);  // a rank of the other node
  }
  SECTION("which one cannot") {
    two.answer(1, Kind::SpawnFailed, RankText{1, -1, "cannot run train: it is not in PATH"});
    CHECK(two.events.notes == Notes{"failed cannot run train: it is not in PATH (on node01)"});
    CHECK(two.all_told<BeginOrder>(0, Kind::Begin).empty());
  }
}

TEST_CASE("the output of a program is passed on, confirmed, and kept for the report as on one machine") {
  const bool keep = GENERATE(true, false);
  TwoNodes two(false);
  launch::WorldSpec spec = program_spec();
  spec.program.keep_output = keep;
  two.world->begin(spec);
  two.answer(0, Kind::Output, piece_of(1, "out "));
  two.answer(1, Kind::Output, piece_of(2, "of 2"));
  two.answer(0, Kind::Output, piece_of(1, "more"));
  two.answer(0, Kind::Output, piece_of(1, "err", launch::Stream::Err));
  CHECK(two.events.notes == Notes{"output 1 out ", "output 2 of 2", "output 1 more", "output 1 err"});
  CHECK(two.world->standard_output(1).bytes_total == 8);
  CHECK(two.world->standard_error(1).text == "err");
  if (keep) CHECK(two.world->standard_output(1).text == "out more");
  if (!keep) CHECK(two.world->standard_output(1).bytes_dropped == 8);
  CHECK_THROWS_AS(two.answer(0, Kind::Output, piece_of(2, "of another node")), Error);
  const std::string large(kOutputPieceMax, 'x');
  two.answer(1, Kind::Output, piece_of(3, large));
  const auto confirmed = two.all_told<ConfirmedBytes>(1, Kind::ConfirmOutput);
  REQUIRE(confirmed.size() == 1);
  CHECK(confirmed[0].bytes == 4 + large.size());
}

TEST_CASE("standard input goes to the node of the rank that reads it, once the program begins") {
  TwoNodes two(false);
  base::FdPair pipe = base::make_pipe();
  REQUIRE(::write(pipe.second.get(), "typed", 5) == 5);
  pipe.second.reset();
  launch::WorldSpec spec = program_spec();
  spec.program.stdin_rank = 3;
  spec.program.stdin_fd = pipe.first.get();
  two.world->begin(spec);
  CHECK(two.told<SpawnRequest>(1, Kind::Spawn).program->stdin_rank == 3);
  CHECK_THROWS_AS(two.answer(1, Kind::ConfirmInput, ConfirmedBytes{1, 0}), Error);  // nothing was sent yet
  for (const int node : {0, 1}) two.answer(node, Kind::Spawned, Spawned{1, {4711, 4712}});
  std::vector<InputPiece> pieces;
  REQUIRE(testing::run_until(two.loop, [&] {
    for (InputPiece& piece : two.all_told<InputPiece>(1, Kind::Input)) pieces.push_back(std::move(piece));
    return pieces.size() == 2;
  }));
  CHECK(pieces[0].bytes == "typed");
  CHECK(pieces[1].bytes.empty());
  CHECK(two.all_told<InputPiece>(0, Kind::Input).empty());
  CHECK_THROWS_AS(two.answer(0, Kind::ConfirmInput, ConfirmedBytes{1, 5}), Error);
  CHECK_NOTHROW(two.answer(1, Kind::ConfirmInput, ConfirmedBytes{1, 5}));
}

TEST_CASE("output that a slow reader has not taken is shown before the ranks' end is reported") {
  TwoNodes two(false);
  two.world->begin(program_spec());
  two.world->hold_output(true);
  two.answer(0, Kind::Output, piece_of(0, "late"));
  CHECK(two.events.notes.empty());
  SECTION("when the reader has caught up") {
    two.world->hold_output(false);
    CHECK(two.events.notes.empty());  // not in a call of the reader
    two.run_loop();
  }
  SECTION("when the ranks have ended") {
    bool is_swept = false;
    two.world->sweep(true, [&](const std::vector<launch::LeftBehind>&) {
      is_swept = true;
      CHECK(two.events.notes == Notes{"output 0 late"});
    });
    for (const int node : {0, 1}) two.answer(node, Kind::Swept, Swept{1, {}});
    CHECK(is_swept);
  }
  CHECK(two.events.notes == Notes{"output 0 late"});
}

TEST_CASE("an order for a program is the same after its journey, and is refused if it is cut off anywhere") {
  const SpawnRequest sent = sent_request();
  const wire::Bytes bytes = wire::encode(sent);
  const auto got = wire::decode<SpawnRequest>(wire::view_of(bytes));
  CHECK(wire::encode(got) == bytes);
  CHECK(got.program->environment == sent.program->environment);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    CHECK_THROWS_AS(wire::decode<SpawnRequest>(wire::view_of(bytes.data(), size)), Error);
  }
}

TEST_CASE("an order for a program that cannot be meant is refused, with the reason") {
  SpawnRequest request = sent_request();
  const auto why = [&request] { return std::string(testing::error_of([&] { check(request); }).what()); };
  CHECK_NOTHROW(check(request));
  ProgramOrder& program = *request.program;
  const std::string zero(1, '\0');
  SECTION("arguments") {
    program.arguments = GENERATE_COPY(Notes{}, Notes{"train", "a" + zero + "b"});
    CHECK_THAT(why(), Catch::Contains("impossible arguments"));
  }
  SECTION("variables") {
    const std::string variable = GENERATE_COPY(std::string("X"), std::string("=x"), std::string(), "X=" + zero);
    const bool is_override = GENERATE(false, true);
    (is_override ? program.overrides : program.environment).push_back(variable);
    CHECK_THAT(why(), Catch::Contains("impossible variables"));
  }
  SECTION("address") {
    program.master_address = zero;
    CHECK_THAT(why(), Catch::Contains("impossible address"));
  }
  SECTION("lane") {
    request.lane = GENERATE(-2, kJobsMax);
    CHECK_THAT(why(), Catch::Contains("impossible lane"));
  }
  SECTION("number of the host") {
    program.host = -1;
    CHECK_THAT(why(), Catch::Contains("impossible number"));
  }
  SECTION("no program, or one for a plugin") {
    request.isolation = Isolation::Process;
    CHECK_THAT(why(), Catch::Contains("either that of a program or that of a plugin"));
    request.isolation = Isolation::Program;
    request.program.reset();
    CHECK_THAT(why(), Catch::Contains("either that of a program or that of a plugin"));
  }
  SECTION("ranks") {
    request.first_rank = GENERATE(-1, 3, 1 << 30);
    CHECK_THAT(why(), Catch::Contains("impossible ranks"));
  }
  SECTION("isolation") {
    request.isolation = static_cast<Isolation>(GENERATE(static_cast<int>(Isolation::Threads), 200));
    CHECK_THAT(why(), Catch::Contains("processes only"));
  }
}

TEST_CASE("a host looks the program up in the PATH that has travelled, unless the user has set another") {
  ProgramOrder order;
  order.arguments = {"sh", "-c", "true"};
  order.environment = {"PATH=/nowhere:/bin", "TMPDIR=/far"};
  const launch::ProgramSpec program = find_program(order, {"TMPDIR=/near"});
  CHECK(program.path == "/bin/sh");
  CHECK(program.environment == Notes{"PATH=/nowhere:/bin", "TMPDIR=/near"});
  order.overrides = {"PATH=/nowhere"};
  CHECK_THAT(testing::error_of([&] { find_program(order, {}); }).what(),
             Catch::Contains("cannot run sh: it is not in PATH"));
  order.overrides.clear();
  order.environment.clear();
  CHECK_FALSE(find_program(order, {}).path.empty());
}

}  // namespace distrun::nodes
