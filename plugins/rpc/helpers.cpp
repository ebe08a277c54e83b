// The ported tests' helpers for RPC.
#include "suites.hpp"

#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <mutex>

#include "support/dist_backend.hpp"
#include "support/efa.hpp"
#include "support/hosts.hpp"

using namespace distrun;
using namespace distrun::suites;

namespace {

// Writes a program that runs `last_line` if its arguments are those given to fi_info.
std::string write_program(const Rank& rank, const std::string& name, const std::string& last_line) {
  const std::string path = std::string(rank.work_dir()) + "/" + name;
  std::ofstream(path) << "#!/bin/sh\n[ \"$*\" = '-p efa -t FI_EP_RDM' ] || exit 3\n" << last_line << "\n";
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  return path;
}

// Returns the transport to the next worker in a session of the pipe that is restricted to `transports`.
std::string transport_used(Rank& rank, const std::string& ending, const std::vector<std::string>& transports) {
  const auto options = rpc_options(rank, ending);
  options->transports = transports;
  rpc::init_rpc({.name = std::string(rank.worker_name()),
                 .backend = rpc::find_backend("pipe"),
                 .rank = rank.rank(),
                 .world_size = rank.world_size(),
                 .options = options});
  rpc_sync(next_worker(rank), noop);
  const std::string used = rpc::agent_debug_info().at("pipe." + next_worker(rank) + ".transport");
  rpc::shutdown();
  return used;
}

// Blocks the main thread of rank 0 in a wait that the runtime does not know.
struct Gate {
  std::mutex mutex;
  std::condition_variable changed;
  bool is_open = false;

  void set(bool open) {
    const std::lock_guard lock(mutex);
    is_open = open;
    changed.notify_all();
  }
  bool wait() {
    std::unique_lock lock(mutex);
    return changed.wait_for(lock, std::chrono::seconds(15), [this] { return is_open; });
  }
} gate;

void open_gate() { gate.set(true); }
DISTRUN_RPC(open_gate)

}  // namespace

DISTRUN_SUITE(RpcHelpers, .world_size = fixed(4));

DISTRUN_TEST(RpcHelpers, ranks_meet_at_a_file_of_the_test) {
  rank.note("rows", "[row:rpc_init/INIT_METHOD_TEMPLATE]");
  needs_one_host(rank);
  DISTRUN_EXPECT(rpc_options(rank)->init_method == "file://" + group_file(rank));
  DISTRUN_EXPECT(group_file(rank).rfind(std::string(rank.temp_dir()), 0) == 0u);
  DISTRUN_EXPECT(rpc_options(rank) != rpc_options(rank));  // new ones each time
}

// A failed rank makes no shutdown that others would have to wait for.
DISTRUN_TEST(RpcHelpers, a_body_that_throws_is_followed_by_no_shutdown) {
  rank.note("rows", "[row:rpc_init/dist_init-after-the-body]");
  rank.barrier("all have begun");
  const auto failing = [] { throw Error(ErrorKind::Failed, "of the body"); };
  DISTRUN_EXPECT(thrown_by([&] { with_rpc(rank, {}, failing); }) == an_error("RuntimeError", "of the body"));
  DISTRUN_EXPECT(rpc::is_initialized());
  rpc::shutdown();
  DISTRUN_EXPECT(with_rpc(rank, {.setup_rpc = false}, [] { return rpc::is_initialized(); }) == false);
}

DISTRUN_TEST(RpcHelpers, a_shutdown_that_waits_for_nobody) {
  rank.note("rows", "[row:rpc_init/dist_init-after-the-body]");
  rank.barrier("all have begun");
  if (rank.rank() == 0) {
    with_rpc(rank, {.clean_shutdown = false}, [] { DISTRUN_EXPECT(rpc::is_initialized()); });
    DISTRUN_EXPECT(!rpc::is_initialized());
    for (int other = 1; other < rank.world_size(); ++other) rank.send(other, "left", "");
  } else {
    with_rpc(rank, {.clean_shutdown = false}, [&] { DISTRUN_EXPECT(rank.receive(0, "left") == ""); });
  }
}

DISTRUN_TEST(RpcHelpers, nothing_can_be_called) {
  rank.note("rows", "[row:rpc_wait/noop]");
  rank.barrier("all have begun");
  with_rpc(rank, {}, [&] {
    rpc_sync(next_worker(rank), noop);
    DISTRUN_EXPECT(rpc_sync(next_worker(rank), "noop").is_none());
  });
}

// The run's agent does not take these options; the agent that takes them is used.
DISTRUN_TEST(RpcHelpers, options_choose_their_agent) {
  init_rpc(rank, std::make_shared<rpc::FaultyOptions>());
  DISTRUN_EXPECT(rpc::agent_debug_info().count("faulty.plan") == 1u);
  rpc_sync(next_worker(rank), noop);
  rpc::shutdown();
}

DISTRUN_TEST(RpcHelpers, calls_are_served_while_the_main_thread_blocks) {
  if (rank.rank() == 0) gate.set(false);
  rank.barrier("the gate is closed");
  with_rpc(rank, {}, [&] {
    if (rank.rank() == 0) DISTRUN_EXPECT(gate.wait());
    if (rank.rank() == 1) rpc_sync(to("worker0").within(10), open_gate);
  });
}

DISTRUN_TEST(RpcHelpers, a_node_that_fails_is_waited_for) {
  rank.note("rows", "[row:rpc_wait/wait_until_node_failure-rank-regex]");
  rank.barrier("all have begun");
  start_rpc(rank);
  if (rank.rank() == 1) rpc::shutdown({.graceful = false});
  if (rank.rank() == 0) {
    DISTRUN_EXPECT(wait_until_node_failure(1) != "");
    DISTRUN_EXPECT(wait_until_node_failure(1, "^.") != "");
    DISTRUN_EXPECT(thrown_by([] { wait_until_node_failure(1, "no text has this", std::chrono::milliseconds(50)); }) ==
                   an_error("TimeoutError", "has not failed with \"no text has this\""));
    DISTRUN_EXPECT(thrown_by([] { wait_until_node_failure(2, ".*", std::chrono::milliseconds(50)); }) ==
                   an_error("TimeoutError", "it answers"));
  }
  rank.barrier("rank 0 has seen it");
  if (rank.rank() != 1) rpc::shutdown({.graceful = false});
}

DISTRUN_TEST(RpcHelpers, what_fi_info_says_decides_the_transports) {
  rank.note("rows", "[row:helpers/has_efa] [row:helpers/tp_transports]");
  needs_one_host(rank, "the ranks use shared memory");
  const std::string has_it = write_program(rank, "has_it", "exit 0");
  const std::string has_it_not = write_program(rank, "has_it_not", "exit 1");
  rank.barrier("all are written");  // a file that another process has open for writing can't be executed
  DISTRUN_EXPECT(probe_efa(has_it));
  DISTRUN_EXPECT(!probe_efa(has_it_not));
  DISTRUN_EXPECT(!probe_efa(std::string(rank.work_dir()) + "/is_not_there"));
  DISTRUN_EXPECT(has_efa() == has_efa());
  DISTRUN_EXPECT(transports_with(true) == std::vector<std::string>({"shm", "uv"}));
  DISTRUN_EXPECT(!transports_with(false).has_value());
  DISTRUN_EXPECT(tp_transports() == transports_with(has_efa()));
  DISTRUN_EXPECT(transport_used(rank, "with_efa", *transports_with(true)) == "shm");
  DISTRUN_EXPECT(transport_used(rank, "with_uv", {"uv"}) == "tcp");
}
