// A table that is expensive to build and used by many tests: the suite's host builds it once, before any rank starts;
// each rank reads its rows of it. Shows a suite fixture. Run it with
//
//   distrun shared_table.so
//
// and with --isolation pool, where ranks are persistent and read their rows once for all tests.
#include <fstream>
#include <numeric>
#include <string>
#include <vector>

#include <distrun/test.hpp>

namespace {

constexpr int kRowsPerRank = 1000;

class Table : public distrun::SuiteFixture {
 public:
  // Runs once, in the host. Files written here are available to all ranks of all tests, and removed after the last.
  void set_up_host(distrun::Host& host) override {
    const int count = kRowsPerRank * host.world_size();
    std::ofstream table(std::string(host.temp_dir()) + "/table");
    for (int row = 0; row < count; ++row) table << row << '\n';
    DISTRUN_REQUIRE(table.flush().good());  // if the host fails, the suite's tests fail, and no rank is started
    host.set("rows", std::to_string(count));
  }

  // Runs in a rank, before its first test.
  void set_up_suite(distrun::Rank& rank) override {
    std::ifstream table(std::string(rank.suite_dir()) + "/table");
    for (int row = 0; table >> row;) {
      if (row % rank.world_size() == rank.rank()) rows.push_back(row);
    }
    DISTRUN_REQUIRE(!rows.empty());
  }

  std::vector<int> rows;  // of this rank
};

}  // namespace

DISTRUN_SUITE_FIXTURE(Table, Table);

DISTRUN_TEST(Table, every_rank_has_its_part) { DISTRUN_EXPECT(rank.suite<Table>().rows.size() == kRowsPerRank); }

DISTRUN_TEST(Table, parts_make_the_whole) {
  const std::vector<int>& rows = rank.suite<Table>().rows;
  const long long own = std::accumulate(rows.begin(), rows.end(), 0LL);
  rank.send(0, "sum", std::to_string(own));
  if (rank.rank() != 0) return;
  long long sum = 0;
  for (int other = 0; other < rank.world_size(); ++other) sum += std::stoll(rank.receive(other, "sum"));
  const long long count = std::stoll(std::string(rank.setting("rows")));
  DISTRUN_EXPECT(sum == count * (count - 1) / 2);
}
