// Workers of RPC of which one is killed.
#include <catch2/catch.hpp>

#include <condition_variable>
#include <mutex>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/collectives/backends.hpp>
#include <distrun/runtime/collectives/process_group.hpp>
#include <distrun/runtime/rpc/calls/call.hpp>
#include <distrun/runtime/rpc/functions/register.hpp>
#include <distrun/runtime/rpc/session/meeting.hpp>
#include <distrun/runtime/rpc/session/session.hpp>
#include <distrun/runtime/store/file_store.hpp>
#include <distrun/runtime/tensor/core/factories.hpp>

#include "../rpc/struck_agent.hpp"
#include "deaths.hpp"
#include "support/skip.hpp"

namespace distrun::testing::deaths {
namespace {

constexpr int kHeld = 25;  // seconds

std::string name(int rank) { return "worker" + std::to_string(rank); }

// Until the process ends.
int death_hold() {
  std::mutex mutex;
  std::condition_variable never;
  std::unique_lock lock(mutex);
  never.wait_for(lock, std::chrono::seconds(kHeld), [] { return false; });
  return 0;
}
DISTRUN_RPC(death_hold)

int death_echo(int number) { return number; }
DISTRUN_RPC(death_echo)

int death_ask_victim() { return rpc::rpc_sync(name(kVictim), death_hold); }
DISTRUN_RPC(death_ask_victim)

void join(int rank, const std::string& folder, const std::string& transport, int id, int workers) {
  auto options = std::make_shared<rpc::PipeOptions>();
  if (transport != "best") options->transports = {transport};
  options->rpc_timeout = kHeld;
  options->init_timeout = kHeld;
  options->store = std::make_shared<FileStore>(folder + "/store");
  rpc::init_rpc({name(rank), rpc::testing::struck_backend(), id, workers, options});
}
void join(int rank, const std::string& folder, const std::string& transport) {
  join(rank, folder, transport, rank, kRanks);
}

Case in_session(const char* title, const char* transport, std::function<void()> call, bool has_met = true) {
  return {title,
          [transport = std::string(transport), call = std::move(call), has_met](
              int rank, const std::string& folder) -> Operation {
            join(rank, folder, transport);
            for (int other = 0; has_met && other < kRanks; ++other) {
              if (other != rank) rpc::rpc_sync(name(other), death_echo, other);
            }
            return call;
          },
          false};
}

void call_victim() { rpc::rpc_sync(name(kVictim), death_hold); }

// A rank that does not know the victim's answer waits for one that does.
void call_by_another() {
  const int self = rpc::get_worker_info().id();
  self == 0 ? call_victim() : static_cast<void>(rpc::rpc_sync(name(0), death_ask_victim));
}

void meet() { rpc::all_gather(rpc::to_value(1)); }
void meet_within() { rpc::all_gather(rpc::to_value(1), {}, kHeld); }

// Only the first rank calls the victim; the others wait for it in a group, which it leaves because of the death.
Case in_group_of_caller(const char* transport, const char* backend) {
  const auto open = [transport = std::string(transport), backend = std::string(backend)](
                        int rank, const std::string& folder) -> Operation {
    if (rank == 0 || rank == kVictim) join(rank, folder, transport, rank == 0 ? 0 : 1, 2);
    if (rank == kVictim) return {};
    const collectives::GroupInfo info{"of the caller", rank == 3 ? 0 : 2 - rank, {3, 1, 0}};
    const auto group =
        std::make_shared<collectives::ProcessGroup>(info, std::make_shared<FileStore>(folder + "/store of the group"),
                                                    GroupOptions{backend, std::chrono::seconds(kHeld)});
    if (rank != 0) return [group] { group->all_reduce(tensor::ones({10})); };
    return [group] {
      try {
        call_victim();
      } catch (const Error& error) {
        group->leave();
        throw Error(error.kind(), "rank 2, by name " + error.text()).with_cause(error.because_of());
      }
    };
  };
  return {"a rank that leaves a group because of a death that it has met in RPC", open};
}

std::vector<Case> cases_of(const char* transport, const char* backend = "shm") {
  std::vector<Case> cases{
      in_session("a call", transport, call_victim),
      in_session("a call to a worker that calls it", transport, call_by_another),
      in_session("all_gather", transport, meet),
      in_session("all_gather within a time", transport, meet_within),
      in_session("all_gather of workers that have not met", transport, meet, false),
      in_session("wait_all_workers", transport, [] { rpc::wait_all_workers(kHeld); }),
      in_session("shutdown", transport, [] { rpc::shutdown({.graceful = true, .timeout = kHeld}); }),
      in_session("a call after the death", transport, call_victim),
      in_session("a call to a worker that was not met", transport, call_victim, false),
  };
  for (const std::size_t after : {cases.size() - 2, cases.size() - 1}) cases[after].is_struck_before = true;
  cases.push_back(in_group_of_caller(transport, backend));
  return cases;
}

TEST_CASE("over shared memory all others name the worker that was killed, and its process") { check(cases_of("shm")); }
TEST_CASE("over Unix sockets all others name the worker that was killed, and its process") { check(cases_of("uds")); }
TEST_CASE("on two hosts all others name the worker that was killed, and its process") {
  const std::string why_not = collectives::why_no_backend("gloo");
  skip_case_if(!why_not.empty(), why_not);
  std::vector<Case> cases;
  for (Case& each : cases_of("best", "gloo")) cases.push_back(across_hosts(std::move(each)));
  check(cases);
}
TEST_CASE("over TCP all others name the worker that was killed, and its process") { check(cases_of("tcp")); }

}  // namespace
}  // namespace distrun::testing::deaths
