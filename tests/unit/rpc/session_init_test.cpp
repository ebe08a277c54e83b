// Rendezvous of a fixed number of workers, and its failures.
#include <catch2/catch.hpp>

#include <cstdlib>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/free_port.hpp>
#include <distrun/runtime/rpc/calls/call.hpp>
#include <distrun/runtime/rpc/compat.hpp>
#include <distrun/runtime/rpc/functions/register.hpp>
#include <distrun/runtime/rpc/session/detail/membership.hpp>
#include <distrun/runtime/rpc/session/hooks.hpp>
#include <distrun/runtime/rpc/session/meeting.hpp>
#include <distrun/runtime/store/rendezvous.hpp>

#include "session_ranks.hpp"
#include "support/environment.hpp"
#include "support/error_of.hpp"
#include "support/scratch.hpp"

namespace distrun::rpc {
namespace {

using namespace std::chrono_literals;

int my_rank() { return get_worker_info().id(); }
DISTRUN_RPC(my_rank)

bool is_set(const Ranks& ranks, int rank) {
  bool is_set = false;
  ranks.error_as(rank, [&] { is_set = is_initialized(); });
  return is_set;
}

TEST_CASE("workers know each other after init_rpc") {
  const Ranks ranks(4);
  const auto errors = ranks.run([&](int rank) {
    init_rpc(ranks.options(rank));
    const int next = (rank + 1) % 4;
    const bool knows = get_worker_info().name() == name_of(rank) && get_worker_info(name_of(next)).id() == next &&
                       get_worker_infos().size() == 4;
    const int called = rpc_sync<int>(next, "my_rank");
    shutdown();
    if (!knows || called != next || is_initialized()) throw Error(ErrorKind::Failed, "wrong");
  });
  CHECK(errors == no_errors(4));
}

TEST_CASE("an unknown worker is named, with the caller") {
  const Ranks ranks(1);
  const std::string error = ranks.error_as(0, [&] {
    init_rpc(ranks.options(0));
    get_worker_info("WorkerUnknown");
  });
  CHECK(error == "RuntimeError: name:worker0,rank:0 could not find destination name WorkerUnknown");
  const std::string misspelt = ranks.error_as(0, [&] { get_worker_info("wroker0"); });
  CHECK_THAT(misspelt, Catch::EndsWith("could not find destination name wroker0; did you mean worker0?"));
  const std::string called = ranks.error_as(0, [&] { rpc_sync<int>("wroker0", "my_rank"); });
  CHECK_THAT(called, Catch::EndsWith("could not find destination name wroker0; did you mean worker0?"));
}

TEST_CASE("a rank has one session after the other at the same store") {
  const Ranks ranks(2);
  for (int round = 0; round < 3; ++round) {
    const auto errors = ranks.run([&](int rank) {
      init_rpc(ranks.options(rank));
      const std::string again = text_of_error([&] { init_rpc(ranks.options(rank)); });
      if (again.find("is already initialized") == again.npos) throw Error(ErrorKind::Failed, again);
      if (rpc_sync<int>(1 - rank, "my_rank") != 1 - rank) throw Error(ErrorKind::Failed, "another one");
      shutdown();
    });
    CHECK(errors == no_errors(2));
  }
}

TEST_CASE("calls without a session are errors") {
  const Ranks ranks(1);
  for (const std::function<void()>& ask :
       std::vector<std::function<void()>>{[] { get_worker_info(); }, [] { get_rpc_timeout(); }, [] { shutdown(); },
                                          [] { wait_all_workers(); }, [] { current_agent(); }, [] { debug_info(); }}) {
    const std::string error = ranks.error_as(0, ask);
    CHECK(error.starts_with("RuntimeError: RPC has not been initialized. Call init_rpc first."));
  }
}

TEST_CASE("a duplicate name is reported to all, and the next attempt may succeed") {
  const Ranks ranks(4);
  auto errors = ranks.run([&](int rank) {
    InitOptions init = ranks.options(rank);
    init.name = name_of(rank % 3);
    init_rpc(init);
  });
  for (int rank = 0; rank < 4; ++rank) {
    CHECK(errors[static_cast<std::size_t>(rank)] ==
          "RuntimeError: RPC worker name worker0 is not unique. Workers 0 and 3 share the same name.");
    CHECK_FALSE(is_set(ranks, rank));
  }
  errors = ranks.run([&](int rank) {
    init_rpc(ranks.options(rank));
    shutdown();
  });
  CHECK(errors == no_errors(4));
}

TEST_CASE("a duplicate name is refused by init_rpc_backend as well") {
  const Ranks ranks(3);
  const PipeOptions options;
  const auto errors =
      ranks.run([&](int rank) { init_rpc_backend(test_backend(), ranks.store(), "duplicate_name", rank, 3, options); });
  for (const std::string& error : errors) CHECK_THAT(error, Catch::Contains("is not unique"));
}

TEST_CASE("a duplicate id is an error of the second worker") {
  const auto store = std::make_shared<HashStore>();
  const Member first{"worker0", 0, 1, 0, "here", {}, {}, {}}, second{"other", 0, 1, 0, "there", {}, {}, {}};
  CHECK(meet_all({store, 1, false}, first, base::Location::here()).members.size() == 1);
  CHECK_THROWS_WITH(meet_all({store, 1, false}, second, base::Location::here()),
                    "RPC worker id 0 is not unique. It is that of worker0, too.");
  CHECK_THROWS_WITH(meet_all({store, 2, false}, second, base::Location::here()),
                    Catch::Contains("it is 2 for other, and 1 for worker0"));
}

TEST_CASE("a worker that does not arrive is named") {
  const auto store = std::make_shared<HashStore>();
  store->set_timeout(20ms);
  const Member member{"worker1", 1, 1, 0, "here", {}, {}, {}};
  const Error error = testing::error_of([&] { meet_all({store, 3, false}, member, base::Location::here()); });
  CHECK(error.kind() == ErrorKind::Timeout);
  CHECK_THAT(error.what(), Catch::Contains("init_rpc of worker1 has timed out after 20") &&
                               Catch::Contains("it waits for rank 0, rank 2"));
}

TEST_CASE("a peer that fails ends the rendezvous") {
  const Ranks ranks(2);
  ranks.state(0).fail_peer({1, "rank 1 failed: it crashed"});
  const std::string error = ranks.error_as(0, [&] { init_rpc(ranks.options(0)); });
  CHECK_THAT(error, Catch::Contains("PeerFailed") && Catch::Contains("rank 1 failed: it crashed"));
  CHECK_FALSE(is_set(ranks, 0));
}

struct Case {
  std::string text;
  std::function<void(PipeOptions&, const std::string& peer)> set;
};

TEST_CASE("invalid device maps are the same error on all workers") {
  // There are two GPUs.
  const Case each = GENERATE(Case{"invalid target node names in its device maps",
                                  [](auto& o, auto&) {
                                    o.set_device_map("none_exist", {{0, 1}});
                                  }},
                             Case{"source devices with invalid indices in its device map for worker1",
                                  [](auto& o, auto& peer) {
                                    o.set_device_map(peer, {{2, 0}});
                                  }},
                             Case{"target devices with invalid indices in its device map for worker1",
                                  [](auto& o, auto& peer) {
                                    o.set_device_map(peer, {{0, 2}});
                                  }},
                             Case{"duplicated target devices in its device map for worker1",
                                  [](auto& o, auto& peer) {
                                    o.set_device_map(peer, {{1, 0}});
                                    o.set_device_map(peer, {{0, 0}});
                                  }},
                             Case{"unexpected source devices in its device map for worker1",
                                  [](auto& o, auto& peer) {
                                    o.set_device_map(peer, {{0, 0}});
                                    o.set_devices({1});
                                  }},
                             Case{"unexpected target devices in its device map for worker1",
                                  [](auto& o, auto& peer) {
                                    o.set_device_map(peer, {{0, 1}});
                                    o.set_devices({0});
                                  }},
                             Case{"devices with invalid indices", [](auto& o, auto&) { o.set_devices({5}); }},
                             Case{"duplicated devices", [](auto& o, auto&) {
                                    o.set_devices({1, 1});
                                  }});
  const Ranks ranks(2);
  const auto errors = ranks.run([&](int rank) {
    auto options = std::make_shared<PipeOptions>();
    each.set(*options, name_of((rank + 1) % 2));
    init_rpc(ranks.options(rank, options));
  });
  CHECK_THAT(errors[0], Catch::StartsWith("ValueError: Node worker0 has " + each.text));
  CHECK(errors[1] == errors[0]);
  CHECK_FALSE(is_set(ranks, 0));
}

TEST_CASE("valid device maps are accepted, also for the own worker and the CPU") {
  const Ranks ranks(2);
  const auto errors = ranks.run([&](int rank) {
    auto options = std::make_shared<PipeOptions>();
    options->set_device_map(name_of(rank), {{0, 1}, {1, 0}});
    options->set_device_map(name_of(1 - rank), {{"cpu", 1}, {0, "cpu"}});
    init_rpc(ranks.options(rank, options));
    shutdown();
  });
  CHECK(errors == no_errors(2));
}

TEST_CASE("values of other types are type errors") {
  const Ranks ranks(1);
  const auto init = [&](Value backend, Value options) {
    return ranks.error_as(0, [&] { init_rpc_dynamic("worker0", backend, to_value(0), to_value(1), options); });
  };
  CHECK_THAT(init(to_value("TENSORPIPE"), Value()),
             Catch::StartsWith("TypeError: Argument backend must be a member of BackendType"));
  CHECK_THAT(init(to_value(test_backend()), to_value(std::map<std::string, std::string>{{"init_method", "x"}})),
             Catch::StartsWith("TypeError: Argument rpc_backend_options must be an instance of RpcBackendOptions"));
  struct Own : RpcBackendOptions {};
  const auto refused = ranks.error_as(0, [&] {
    InitOptions own = ranks.options(0);
    own.options = std::make_shared<Own>();
    init_rpc(own);
  });
  CHECK_THAT(refused, Catch::StartsWith("TypeError: `rpc_backend_options` must be a `TensorPipeRpcBackendOptions`"));
  CHECK_FALSE(is_set(ranks, 0));
  PipeOptions options;
  options.store = ranks.store();
  CHECK(init(to_value(test_backend()), to_value(options)).empty());
  CHECK(is_set(ranks, 0));
}

TEST_CASE("the timeout of calls is that of the options, until it is set") {
  const Ranks ranks(1);
  const std::string error = ranks.error_as(0, [&] {
    init_rpc(ranks.options(0, std::make_shared<PipeOptions>(3, 0.5)));
    CHECK(get_rpc_timeout() == 0.5);
    set_rpc_timeout(100);
    CHECK(get_rpc_timeout() == 100);
    CHECK_THROWS_WITH(set_rpc_timeout(-1), Catch::Contains("non-negative"));
    CHECK(debug_info().at("agent.thread_pool_size") == "3");
    CHECK(debug_info().contains("agent.client_active_calls"));
    shutdown();
  });
  CHECK(error.empty());
}

TEST_CASE("ranks meet at an address, repeatedly") {
  const testing::Scratch folder;
  const bool is_file = GENERATE(true, false);
  const std::string address =
      is_file ? "file://" + folder.path() + "/rendezvous" : "tcp://127.0.0.1:" + std::to_string(base::find_free_port());
  const Ranks ranks(2);
  for (int round = 0; round < 2; ++round) {
    const auto errors = ranks.run([&](int rank) {
      InitOptions init = ranks.options(rank);
      auto options = std::make_shared<PipeOptions>();
      options->init_method = address;
      init.options = options;
      init_rpc(init);
      const std::string again = text_of_error([&] { init_rpc(init); });
      const std::string wanted = is_file || rank != 0 ? "is already initialized" : "Address already in use";
      if (again.find(wanted) == again.npos) throw Error(ErrorKind::Failed, again);
      shutdown();
    });
    CHECK(errors == no_errors(2));
  }
}

TEST_CASE("sessions leave nothing in the store except the keys of the last rendezvous") {
  const Ranks ranks(3);
  std::int64_t keys = 0;
  for (int round = 0; round < 20; ++round) {
    const auto errors = ranks.run([&](int rank) {
      init_rpc(ranks.options(rank));
      shutdown();
    });
    REQUIRE(errors == no_errors(3));
    if (round == 1) keys = ranks.store()->num_keys();
  }
  CHECK(ranks.store()->num_keys() == keys);
}

// Returns the bytes that this process has read from files so far.
std::uint64_t bytes_read() {
  const std::string io = testing::read_file("/proc/self/io");
  REQUIRE(io.starts_with("rchar: "));
  return std::strtoull(io.c_str() + sizeof "rchar:", nullptr, 10);
}

// Waiting ranks read the file now and then, so the cheapest of some sessions counts. scripts/check-all runs more.
TEST_CASE("a session of many reads as much of the rank's store as one of the first") {
  constexpr unsigned long kSome = 20;
  const unsigned long count = testing::number_of("DISTRUN_SESSIONS", 300);
  const testing::Scratch scratch;
  const std::string path = scratch.path() + "/store";
  REQUIRE(::setenv("DISTRUN_STORE", path.c_str(), 1) == 0);
  std::uint64_t early = UINT64_MAX, late = UINT64_MAX;
  {
    const Ranks ranks(2);
    for (unsigned long round = 0; round < count; ++round) {
      const std::uint64_t before = bytes_read();
      REQUIRE(ranks.run([&](int rank) {
        InitOptions options = ranks.options(rank);
        options.options = std::make_shared<PipeOptions>();  // without a store
        init_rpc(options);
        shutdown();
      }) == no_errors(2));
      std::uint64_t& least = round < kSome ? early : late;
      if (round < kSome || round + kSome >= count) least = std::min(least, bytes_read() - before);
    }
  }
  ::unsetenv("DISTRUN_STORE");
  INFO("bytes read by one of the first sessions: " << early << ", by one of the last: " << late);
  CHECK(late > 0);
  CHECK(late < 4 * early);
}

// An agent that has connected to its peers already.
class MetAgent final : public Agent {
 public:
  const WorkerInfo& worker_info() const noexcept override { return self_; }
  std::vector<WorkerInfo> worker_infos() const override { return {{"worker0", 0}, self_, {"worker2", 2}}; }
  std::string address() const override { return "nowhere"; }
  void add_worker(const WorkerRecord&) override {}
  void remove_worker(WorkerKey) noexcept override {}
  void start(Receiver&) override { FAIL("a hook was to start it"); }
  void send(WorkerKey, Message, Urgency) override {}
  std::shared_ptr<future::Progress> progress() const noexcept override { return nullptr; }
  void close(base::Nanoseconds) noexcept override {}
  std::map<std::string, std::string> debug_info() const override { return {}; }

 private:
  WorkerInfo self_{"worker1", 1};
};

TEST_CASE("an agent with its own rendezvous is only asked for its peers") {
  const Ranks ranks(2);
  static int made;
  made = 0;
  BackendInfo info;
  info.name = "met";
  info.make_met_agent = [](Store&, const std::string&, int, int, const RpcBackendOptions&) -> std::shared_ptr<Agent> {
    ++made;
    return std::make_shared<MetAgent>();
  };
  const Backend met = register_backend(info);
  const std::string error = ranks.error_as(0, [&] {
    bool has_autograd = false, is_used = false;
    SessionHooks hooks;
    hooks.start_autograd = [&] { has_autograd = true; };
    hooks.use_agent = [&](const std::shared_ptr<Agent>&) { is_used = true; };
    const UseHooks use(hooks);
    InitOptions init = ranks.options(0);
    init.backend = met;
    init_rpc(init);
    CHECK(has_autograd);
    CHECK(is_used);
    CHECK(get_worker_infos().size() == 3);
  });
  CHECK(error.empty());
  CHECK(made == 1);
}

}  // namespace
}  // namespace distrun::rpc
