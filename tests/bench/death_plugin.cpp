// Ranks of a run of distrun; the last one dies while the others wait for it in a collective. Writes the times of the
// death and of its detection to $DISTRUN_BENCH_DEATHS, a line each.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <string>

#include <distrun/collectives.hpp>
#include <distrun/tensors.hpp>
#include <distrun/test.hpp>

namespace {

using namespace distrun;

void tell(const std::string& what) {
  const std::string line =
      what + " " + std::to_string(std::chrono::steady_clock::now().time_since_epoch().count()) + "\n";
  const int file = ::open(std::getenv("DISTRUN_BENCH_DEATHS"), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  if (::write(file, line.data(), line.size()) < 0) std::abort();
  ::close(file);
}

void lose_the_last(Rank& rank) {
  const auto group = init_process_group(rank);
  group->barrier();
  const int last = rank.world_size() - 1;
  if (rank.rank() == last) {
    ::poll(nullptr, 0, 20);  // the others are asleep by then
    tell("died");
    ::raise(SIGKILL);
  }
  try {
    group->all_reduce(ones({4}));
  } catch (const PeerFailed& failed) {
    if (failed.rank() == last) tell("heard");
  }
}

}  // namespace

DISTRUN_TEST(Deaths, of_a_rank) { lose_the_last(rank); }
// Its death is not a failure: the runner does not notify other ranks.
DISTRUN_TEST(Deaths, that_may_be, .may_die = {dies_by_signal(-1, SIGKILL)}) { lose_the_last(rank); }
