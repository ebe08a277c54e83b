#pragma once
// Builds the order that each rank of an attempt receives.
#include <string>
#include <vector>

#include <distrun/runner/attempt/name_watch.hpp>
#include <distrun/runner/attempt/private_tmp.hpp>
#include <distrun/runner/attempt/work_dirs.hpp>
#include <distrun/runner/plan/plan.hpp>

namespace distrun::runner {

// Where the ranks of an attempt meet.
struct Meeting {
  std::string store;        // $DISTRUN_STORE; empty: their machine has one
  std::string init_method;  // a URL for a rendezvous
  std::string address;      // $MASTER_ADDR; empty: this machine
  int port = 0;             // $MASTER_PORT, for a test with env:// rendezvous
};

// The run's secret, which ranks and hosts of suites prove to each other on sockets that any process can connect to: the
// user's $DISTRUN_STORE_SECRET of --env, else a random one.
std::string store_secret(const Settings& settings);
// Returns the part of the order that all ranks share, on any machine.
wire::RunOrder common_order(const PlannedTest& test, const Settings& settings, const std::string& run_id, int attempt);
void add_meeting(wire::RunOrder& order, const PlannedTest& test, const Meeting& meeting);
// The part of an order that depends on the rank's machine.
struct OnMachine {
  int local_rank = 0;  // among the ranks of the world on this machine
  std::string temp_dir;
  std::string work_dir;
  std::string tmp_dir;
  std::string threads;  // $DISTRUN_THREADS
  std::string cpus;     // that the rank runs on; empty: any
  int cpu_count = 0;    // $DISTRUN_CPUS: of all ranks of the world on this machine, if they are bound
};
// Completes the order for a rank on its machine. A rank that is to see a single device (`own_gpu`) gets the one at its
// local index in CUDA_VISIBLE_DEVICES of this process.
void add_machine(wire::RunOrder& order, const OnMachine& machine, bool env_rendezvous, bool own_gpu);
// Returns the watched directories that ranks share with other processes; `private_tmp` is null if they share all.
std::vector<wire::WatchedDirectory> watched_by_ranks(const NameWatch& names, const PrivateTmp* private_tmp);

}  // namespace distrun::runner
