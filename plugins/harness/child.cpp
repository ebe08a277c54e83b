// How a rank gets to run its test, observed from within.
#include <distrun/test.hpp>

#include <dirent.h>

#include <string>

#include "support/hosts.hpp"

namespace {

int count_threads() {
  int count = 0;
  DIR* tasks = opendir("/proc/self/task");
  if (tasks == nullptr) return 0;
  while (const dirent* task = readdir(tasks)) count += task->d_name[0] != '.';
  closedir(tasks);
  return count;
}

}  // namespace

class Child : public distrun::Fixture {
 public:
  Child() { order_ = "made"; }
  void set_up(distrun::Rank& rank) override {
    DISTRUN_EXPECT(order_ == "made");  // also in the second test of a process
    DISTRUN_EXPECT(rank.worker_name() == rank.worker_name(rank.rank()));
    const std::string meets_at =
        distrun::suites::are_hosts_several() ? "tcp://" : "file://" + std::string(rank.temp_dir());
    DISTRUN_EXPECT(rank.init_method().starts_with(meets_at));
    DISTRUN_EXPECT(&distrun::this_rank() == &rank);
    DISTRUN_EXPECT(count_threads() > 1);  // a thread listens while the body runs
    order_ = "set up";
  }
  void tear_down(distrun::Rank& rank) override {
    DISTRUN_EXPECT(order_ == "body");
    rank.barrier("all ranks tear down");
  }

 protected:
  std::string order_;
};

// Each rank and test has a new object, so the second test begins in the same state as the first.
DISTRUN_TEST_F(Child, first_test_of_a_suite) {
  rank.note("rows", "[row:multiprocess_child/rank-entry-point-_run] [row:multiprocess/set-up-parent-per-test]");
  DISTRUN_EXPECT(order_ == "set up");
  order_ = "body";
}

DISTRUN_TEST_F(Child, second_test_of_a_suite) {
  rank.note("rows", "[row:multiprocess_child/rank-entry-point-_run]");
  DISTRUN_EXPECT(order_ == "set up");
  order_ = "body";
}
