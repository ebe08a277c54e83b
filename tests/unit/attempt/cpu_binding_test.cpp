#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>

#include <distrun/common/base/cpu_list.hpp>
#include <distrun/runner/attempt/cpu_binding.hpp>

#include "support/scratch.hpp"

using namespace distrun;
using namespace distrun::runner;

namespace {

using Cpus = std::vector<int>;
using Texts = std::vector<std::string>;

// A folder as /sys/devices/system, of a machine with two nodes of two cores with two threads each: core 0 has the CPUs
// 0 and 4, core 1 has 1 and 5, and so on.
class Machine8 {
 public:
  Machine8() {
    write("node/online", "0-1");
    write("node/node0/cpulist", "0-1,4-5");
    write("node/node1/cpulist", "2-3,6-7");
    for (int cpu = 0; cpu < 8; ++cpu) {
      const int core = cpu % 4;
      write("cpu/cpu" + std::to_string(cpu) + "/topology/core_cpus_list",
            std::to_string(core) + "," + std::to_string(core + 4));
    }
  }
  std::vector<Core> cores(const Cpus& usable = {0, 1, 2, 3, 4, 5, 6, 7}) const {
    return read_cores(usable, scratch_.path());
  }

 private:
  void write(const std::string& name, const std::string& text) const {
    const std::filesystem::path file = scratch_.path() + "/" + name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text << "\n";
  }
  testing::Scratch scratch_;
};

Texts of_ranks(Bind bind, const std::vector<Core>& cores, int lane, int lanes, int ranks) {
  const LaneCpus cpus(bind, cores, lane, lanes);
  Texts texts;
  for (int rank = 0; rank < ranks; ++rank) texts.push_back(cpus.of(rank, ranks));
  return texts;
}

}  // namespace

TEST_CASE("cores have all their hardware threads, and lie together by node") {
  const std::vector<Core> cores = Machine8().cores();
  REQUIRE(cores.size() == 4);
  CHECK((cores[0].cpus == Cpus{0, 4} && cores[0].node == 0));
  CHECK((cores[1].cpus == Cpus{1, 5} && cores[1].node == 0));
  CHECK((cores[3].cpus == Cpus{3, 7} && cores[3].node == 1));
}

TEST_CASE("CPUs that are not usable are left out") {
  const std::vector<Core> cores = Machine8().cores({1, 2, 6});
  REQUIRE(cores.size() == 2);
  CHECK((cores[0].cpus == Cpus{1} && cores[1].cpus == Cpus{2, 6}));
}

TEST_CASE("a CPU that is not described is a core of its own") {
  const testing::Scratch nothing;
  const std::vector<Core> cores = read_cores({0, 1, 9}, nothing.path());
  REQUIRE(cores.size() == 3);
  CHECK((cores[2].cpus == Cpus{9} && cores[2].node == 0));
}

TEST_CASE("ranks divide the cores of their lane evenly") {
  const std::vector<Core> cores = Machine8().cores();
  CHECK(of_ranks(Bind::Core, cores, 0, 1, 4) == Texts{"0,4", "1,5", "2,6", "3,7"});
  CHECK(of_ranks(Bind::Core, cores, 0, 1, 2) == Texts{"0-1,4-5", "2-3,6-7"});
  CHECK(of_ranks(Bind::Core, cores, 0, 1, 3) == Texts{"0,4", "1,5", "2-3,6-7"});
  CHECK(of_ranks(Bind::Core, cores, 0, 2, 2) == Texts{"0,4", "1,5"});
  CHECK(of_ranks(Bind::Core, cores, 1, 2, 2) == Texts{"2,6", "3,7"});
}

TEST_CASE("more ranks or lanes than cores share them evenly") {
  const std::vector<Core> cores = Machine8().cores();
  CHECK(of_ranks(Bind::Core, cores, 0, 1, 8) == Texts{"0,4", "0,4", "1,5", "1,5", "2,6", "2,6", "3,7", "3,7"});
  CHECK(of_ranks(Bind::Core, cores, 5, 8, 2) == Texts{"2,6", "2,6"});
  CHECK(of_ranks(Bind::Core, cores, 7, 8, 1) == Texts{"3,7"});
}

TEST_CASE("a rank that is bound to a node has all its CPUs") {
  const std::vector<Core> cores = Machine8().cores();
  CHECK(of_ranks(Bind::Numa, cores, 0, 1, 1) == Texts{"0-1,4-5"});
  CHECK(of_ranks(Bind::Numa, cores, 0, 1, 4) == Texts{"0-1,4-5", "0-1,4-5", "2-3,6-7", "2-3,6-7"});
  CHECK(of_ranks(Bind::Numa, cores, 1, 2, 2) == Texts{"2-3,6-7", "2-3,6-7"});
  CHECK(of_ranks(Bind::Numa, cores, 3, 4, 1) == Texts{"2-3,6-7"});
}

TEST_CASE("the CPUs that ranks share count once") {
  const std::vector<Core> cores = Machine8().cores();
  CHECK(LaneCpus(Bind::Core, cores, 0, 1).count(3) == 8);
  CHECK(LaneCpus(Bind::Core, cores, 0, 2).count(8) == 4);
  CHECK(LaneCpus(Bind::Numa, cores, 0, 1).count(1) == 4);
  CHECK(LaneCpus().count(2) == 0);
}

TEST_CASE("without --bind ranks may run on any CPU") {
  CHECK(of_ranks(Bind::None, Machine8().cores(), 0, 1, 2) == Texts{"", ""});
  CHECK(LaneCpus().of(0, 2).empty());
  const std::vector<LaneCpus> lanes = bind_lanes(Bind::None, 3);
  REQUIRE(lanes.size() == 3);
  CHECK(lanes[2].of(0, 1).empty());
}

TEST_CASE("the lanes of this machine have CPUs that are usable") {
  const Cpus usable = base::cpus_of_thread();
  for (const LaneCpus& lane : bind_lanes(Bind::Core, 2)) {
    const auto cpus = base::parse_cpu_list(lane.of(0, 1));
    REQUIRE((cpus && !cpus->empty()));
    CHECK(std::includes(usable.begin(), usable.end(), cpus->begin(), cpus->end()));
  }
}
