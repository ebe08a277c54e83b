// Attempts to meet that fail on some of the workers, and the attempts after them.
#include <catch2/catch.hpp>

#include <distrun/common/base/error.hpp>
#include <distrun/common/store_server/request.hpp>
#include <distrun/runtime/rpc/calls/call.hpp>
#include <distrun/runtime/rpc/functions/register.hpp>
#include <distrun/runtime/rpc/session/detail/membership.hpp>

#include "session_ranks.hpp"
#include "support/error_of.hpp"

namespace distrun::rpc {
namespace {

using namespace std::chrono_literals;

int own_rank() { return get_worker_info().id(); }
DISTRUN_RPC(own_rank)

// A store that cannot be reached.
class LostStore final : public Store {
 private:
  stores::Reply run(const stores::Request&, const stores::WaitLimit&, Location) override {
    throw Error(ErrorKind::Disconnected, "the store is gone");
  }
};

Backend backend_that_fails() {
  static const Backend backend =
      register_backend({"fails before it has an agent",
                        [](const RpcBackendOptions&) { return true; },
                        [] { return std::make_unique<PipeOptions>(); },
                        [](const AgentSetting&, const RpcBackendOptions&) -> std::shared_ptr<Agent> {
                          throw Error(ErrorKind::InvalidArgument, "no such transport");
                        },
                        {}});
  return backend;
}

InitOptions brief(const Ranks& ranks, int rank) {
  const auto options = std::make_shared<PipeOptions>();
  options->init_timeout = 0.1;
  return ranks.options(rank, options);
}

InitOptions without_store(const Ranks& ranks, int rank) {
  const auto options = std::make_shared<PipeOptions>();
  options->store = std::make_shared<LostStore>();
  return ranks.options(rank, options);
}

InitOptions without_agent(const Ranks& ranks, int rank) {
  InitOptions init = ranks.options(rank);
  init.backend = backend_that_fails();
  return init;
}

void call_each_other(const Ranks& ranks) {
  const auto errors = ranks.run([&](int rank) {
    init_rpc(ranks.options(rank));
    for (int other = 0; other < ranks.world_size(); ++other) {
      if (rpc_sync<int>(other, "own_rank") != other) throw Error(ErrorKind::Failed, "another one");
    }
    shutdown();
  });
  CHECK(errors == no_errors(ranks.world_size()));
}

TEST_CASE(
    "after an attempt that fails on one worker all meet in the same round, whether the others have tried or not") {
  const auto fails = GENERATE(&without_store, &without_agent);
  const bool have_others_tried = GENERATE(true, false);
  const Ranks ranks(3);
  const auto errors = ranks.run([&](int rank) {
    if (rank == 1) init_rpc(fails(ranks, rank));
    if (rank != 1 && have_others_tried) init_rpc(brief(ranks, rank));
  });
  CHECK_FALSE(errors[1].empty());
  for (const int other : {0, 2}) {
    if (have_others_tried) CHECK_FALSE(errors[static_cast<std::size_t>(other)].empty());
  }
  call_each_other(ranks);
  call_each_other(ranks);
}

TEST_CASE("workers that wait meet one that has failed in its first attempt") {
  const auto fails = GENERATE(&without_store, &without_agent);
  const Ranks ranks(2);
  const auto errors = ranks.run([&](int rank) {
    if (rank == 1) text_of_error([&] { init_rpc(fails(ranks, rank)); });
    init_rpc(ranks.options(rank));
    if (rpc_sync<int>(1 - rank, "own_rank") != 1 - rank) throw Error(ErrorKind::Failed, "another one");
    shutdown();
  });
  CHECK(errors == no_errors(2));
}

TEST_CASE("a worker that gives up ends the round for workers that come later, and they say so") {
  const auto store = std::make_shared<HashStore>();
  store->set_timeout(20ms);
  const Member first{"worker1", 1, 1, 0, "here", {}, {}, {}}, late{"worker0", 0, 1, 0, "there", {}, {}, {}};
  CHECK(testing::error_of([&] {
          meet_all({store, 2, false}, first, base::Location::here());
        }).kind() == ErrorKind::Timeout);
  const Met met = meet_all({store, 2, false}, late, base::Location::here());
  CHECK(met.members.empty());
  CHECK(met.given_up == "given up by worker1, which waited for rank 0");
  CHECK(meet_all({store, 3, false}, late, base::Location::here()).given_up == met.given_up);  // not of another size
  const Ranks ranks(2);
  CHECK_THAT(ranks.error_as(1, [&] { init_rpc(brief(ranks, 1)); }), Catch::Contains("it waits for rank 0"));
  CHECK_THAT(ranks.error_as(0, [&] { init_rpc(brief(ranks, 0)); }),
             Catch::Contains("it waits for rank 1") &&
                 Catch::EndsWith("; an earlier attempt was given up by worker1, which waited for rank 0"));
}

TEST_CASE("attempts that failed leave nothing in the store once all have met") {
  const Ranks ranks(3);
  call_each_other(ranks);
  call_each_other(ranks);
  const std::int64_t keys = ranks.store()->num_keys();
  for (int attempt = 0; attempt < 3; ++attempt) {
    ranks.run([&](int rank) {
      if (rank != attempt) init_rpc(brief(ranks, rank));
    });
  }
  call_each_other(ranks);
  CHECK(ranks.store()->num_keys() == keys);
}

}  // namespace
}  // namespace distrun::rpc
