// Workers that join and leave.
#include <catch2/catch.hpp>

#include <cstdlib>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/free_port.hpp>
#include <distrun/runtime/rpc/calls/call.hpp>
#include <distrun/runtime/rpc/functions/register.hpp>

#include "session_ranks.hpp"
#include "support/scratch.hpp"

namespace distrun::rpc {
namespace {

int whose() { return get_worker_info().id(); }
DISTRUN_RPC(whose)

TEST_CASE("a worker that joins knows the present workers, and they know it") {
  const Ranks ranks(4);
  CHECK(ranks.error_as(0, [&] { init_rpc(ranks.elastic(0)); }).empty());
  const auto errors = ranks.run([&](int rank) {
    if (rank == 0) return;
    init_rpc(ranks.elastic(rank));
    if (rpc_sync<int>("worker0", "whose") != 0) throw Error(ErrorKind::Failed, "another one");
  });
  CHECK(errors == no_errors(4));
  const std::string error = ranks.error_as(0, [&] {
    CHECK(get_worker_infos().size() == 4);
    for (int rank = 1; rank < 4; ++rank) CHECK(rpc_sync<int>(name_of(rank), "whose") == rank);
  });
  CHECK(error.empty());
  CHECK(ranks
            .error_as(2,
                      [&] {
                        for (int rank = 0; rank < 4; ++rank) CHECK(rpc_sync<int>(rank, "whose") == rank);
                      })
            .empty());
}

TEST_CASE("all workers join and leave at the same time, several times") {
  const Ranks ranks(4);
  for (int round = 0; round < 5; ++round) {
    const auto errors = ranks.run([&](int rank) {
      init_rpc(ranks.elastic(rank));
      shutdown();
      if (is_initialized()) throw Error(ErrorKind::Failed, "still there");
    });
    CHECK(errors == no_errors(4));
  }
}

TEST_CASE("a worker that has left is no peer any more, and may join again") {
  const Ranks ranks(2);
  const bool graceful = GENERATE(true, false);
  const auto join = [&](int rank) { return ranks.error_as(rank, [&] { init_rpc(ranks.elastic(rank)); }); };
  CHECK(join(0).empty());
  CHECK(join(1).empty());
  CHECK(ranks.error_as(1, [&] { shutdown({.graceful = graceful}); }).empty());
  CHECK_FALSE(ranks.error_as(0, [] { rpc_sync("worker1", "whose"); }).empty());
  CHECK(join(1).empty());
  CHECK(ranks.error_as(0, [] { CHECK(rpc_sync<int>("worker1", "whose") == 1); }).empty());
}

TEST_CASE("a name or an id of a present worker is refused as not unique") {
  const Ranks ranks(3);
  CHECK(ranks.error_as(0, [&] { init_rpc(ranks.elastic(0)); }).empty());
  const auto join_as = [&](const std::string& name, int id) {
    return ranks.error_as(1, [&] {
      InitOptions init = ranks.elastic(id);
      init.name = name;
      init_rpc(init);
    });
  };
  CHECK_THAT(join_as("worker0", 1), Catch::Contains("RPC worker name worker0 is not unique"));
  CHECK_THAT(join_as("other", 0), Catch::Contains("RPC worker id 0 is not unique"));
  CHECK(join_as("other-one:1", 1).empty());
  CHECK(ranks.error_as(0, [] { CHECK(get_worker_infos().size() == 2); }).empty());
}

TEST_CASE("maps may name workers that have not joined yet") {
  const Ranks ranks(2);
  const std::string error = ranks.error_as(0, [&] {
    auto options = std::make_shared<PipeOptions>();
    options->set_device_map("worker7", {{"cpu", "cpu"}});
    InitOptions init = ranks.options(0, options);
    init.world_size.reset();
    init_rpc(init);
  });
  CHECK(error.empty());
}

TEST_CASE("a group is of a fixed size, or elastic") {
  const Ranks ranks(2);
  const auto errors = ranks.run([&](int rank) { init_rpc(ranks.options(rank)); });
  CHECK(errors == no_errors(2));
  const Ranks other(1);
  const std::string error = other.error_as(0, [&] {
    InitOptions init = ranks.elastic(0);
    init_rpc(init);
  });
  CHECK_THAT(error, Catch::Contains("RPC group mixes statically and dynamically initialized members which is not "
                                    "supported."));
}

TEST_CASE("a worker without a rank waits for no other worker") {
  const testing::Scratch folder;
  const std::string port = std::to_string(base::find_free_port());
  ::unsetenv("RANK");
  const Ranks ranks(1);
  const auto join_at = [&](const std::string& address) {
    return ranks.error_as(0, [&] {
      auto options = std::make_shared<PipeOptions>();
      options->init_method = address;
      InitOptions init = ranks.elastic(0);
      init.rank.reset();
      init.options = options;
      init_rpc(init);
    });
  };
  CHECK_THAT(join_at("file://" + folder.path() + "/x"),
             Catch::StartsWith("ValueError") && Catch::Contains("rank parameter missing"));
  CHECK_THAT(join_at("tcp://127.0.0.1:" + port), Catch::Contains("rank parameter missing"));
  CHECK_THAT(join_at("env://"),
             Catch::StartsWith("ValueError") && Catch::Contains("environment variable RANK expected"));
  CHECK_FALSE(testing::exists(folder.path() + "/x"));
}

}  // namespace
}  // namespace distrun::rpc
