// Ranks that are processes: their number, their identity, and what each knows of itself.
#include <distrun/test.hpp>

#include <unistd.h>

#include <set>
#include <string>
#include <vector>

#include "support/hosts.hpp"

namespace {

using Lists = std::vector<std::vector<int>>;

int touched = 0;

bool ranks_share_memory(const distrun::ListContext& run) {
  return run.isolation == "threads" || run.isolation == "pool";
}

// Returns the texts of all ranks, on rank 0.
std::multiset<std::string> gather(distrun::Rank& rank, const std::string& own) {
  rank.send(0, "gathered", own);
  std::multiset<std::string> all;
  if (!rank.is_master()) return all;
  for (int other = 0; other < rank.world_size(); ++other) all.insert(rank.receive(other, "gathered"));
  return all;
}

}  // namespace

DISTRUN_TEST(Ranks, run_the_body_once_each) {
  rank.note("rows", "[row:multiprocess/join_or_run] [row:multiprocess/is_master]");
  DISTRUN_EXPECT(rank.is_master() == (rank.rank() == 0));
  const std::multiset<std::string> all = gather(rank, std::to_string(rank.rank()));
  std::multiset<std::string> wanted;
  for (int other = 0; other < rank.world_size(); ++other) wanted.insert(std::to_string(other));
  if (rank.is_master()) DISTRUN_EXPECT((all == wanted));
}

DISTRUN_TEST(Ranks, are_processes_of_their_own,
             .skip = {skip_if(ranks_share_memory, "ranks share a process, or run other tests before this one")}) {
  rank.note("rows", "[row:multiprocess/starting-ranks] [row:multiprocess/start-method-is-spawn]");
  distrun::suites::needs_one_host(rank, "processes of hosts may have the same id");
  const std::multiset<std::string> pids = gather(rank, std::to_string(getpid()));
  for (const std::string& pid : pids) DISTRUN_EXPECT(pids.count(pid) == 1U);
  DISTRUN_EXPECT(++touched == 1);  // memory is in the state in which the plugin was loaded
}

DISTRUN_TEST(Ranks, find_memory_untouched_by_the_test_before,
             .skip = {skip_if(ranks_share_memory, "ranks share a process, or run other tests before this one")}) {
  rank.note("rows", "[row:multiprocess/start-method-is-spawn]");
  DISTRUN_EXPECT(++touched == 1);
}

DISTRUN_TEST(Ranks, know_their_test_and_their_names) {
  rank.note("rows", "[row:naming/worker_name-rank] [row:multiprocess/test-name-passed-to-ranks]");
  DISTRUN_EXPECT(rank.test_id() == "Ranks.know_their_test_and_their_names");
  DISTRUN_EXPECT(rank.worker_name() == "worker" + std::to_string(rank.rank()));
  DISTRUN_EXPECT(rank.worker_name(7) == "worker7");
  DISTRUN_EXPECT(rank.worker_name(12) == "worker12");
}

DISTRUN_TEST(Ranks, may_be_as_many_as_a_suite_says, .world_size = fixed(3)) {
  rank.note("rows", "[row:multiprocess/default-world-size]");
  DISTRUN_EXPECT(rank.world_size() == 3);
  DISTRUN_EXPECT(rank.rank() < 3);
}

DISTRUN_TEST(Ranks, have_a_device_each_or_none) {
  rank.note("rows", "[row:helpers/init_multigpu_helper-world_size-backend]");
  DISTRUN_EXPECT((distrun::devices_of_ranks(2, 4) == Lists{{0}, {1}}));
  DISTRUN_EXPECT((distrun::devices_of_ranks(3, 3) == Lists{{0}, {1}, {2}}));
  DISTRUN_EXPECT((distrun::devices_of_ranks(4, 3) == Lists(4)));
  DISTRUN_EXPECT((distrun::devices_of_ranks(2, 0) == Lists(2)));
}
