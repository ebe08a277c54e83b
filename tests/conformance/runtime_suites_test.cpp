// The suites of the runtime: each lists what its expected_tests.txt says, and every test passes on the CPU alone and
// with virtual devices, in each isolation in which it can run, and with one rank and more. As these runs are
// repetitive, without DISTRUN_WHOLE_TESTS each suite runs in a few of these ways, and each way with some suite.
#include <catch2/catch.hpp>

#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "run_case.hpp"
#include "support/environment.hpp"
#include "support/skip.hpp"

namespace {

using namespace distrun::testing;

struct Wanted {
  bool needs_gpus = false;
  bool needs_peers = false;  // at least two ranks
  bool is_for_nccl = true, is_for_others = true;
  std::set<std::string> isolations;  // empty: all

  std::string verdict(bool has_gpus, bool has_peers, const std::string& isolation) const {
    const bool runs = (has_gpus || !needs_gpus) && (has_peers || !needs_peers) &&
                      (isolations.empty() || isolations.contains(isolation));
    return runs ? "pass" : "skip";
  }
};

struct Suite {
  std::string plugin;
  std::string expected;  // its expected_tests.txt
  Texts arguments = {};
  std::string gpus = "2";  // virtual ones; the maximum that its tests need
};
const Suite kTensor{DISTRUN_TENSOR_SUITE, DISTRUN_TENSOR_SUITE_EXPECTED};
const Suite kCollectives{DISTRUN_COLLECTIVES_SUITE, DISTRUN_COLLECTIVES_SUITE_EXPECTED};
// Their tests mostly wait for timeouts.
const Suite kRpc{DISTRUN_RPC_SUITE, DISTRUN_RPC_SUITE_EXPECTED, {"--jobs", "4"}};
const Suite kDistAutograd{DISTRUN_DIST_AUTOGRAD_SUITE, DISTRUN_DIST_AUTOGRAD_SUITE_EXPECTED, {"--jobs", "4"}, "4"};
const Suite kCudaRpc{DISTRUN_CUDA_RPC_SUITE, DISTRUN_CUDA_RPC_SUITE_EXPECTED, {"--jobs", "4"}, "4"};
const Suite kProfiler{DISTRUN_PROFILER_SUITE, DISTRUN_PROFILER_SUITE_EXPECTED, {"--jobs", "4"}};
const Suite kRref{DISTRUN_RREF_SUITE, DISTRUN_RREF_SUITE_EXPECTED, {"--jobs", "4"}};

std::map<std::string, Wanted> expected_tests(const Suite& suite) {
  std::map<std::string, Wanted> tests;
  std::ifstream file(suite.expected);
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line.front() == '#') continue;
    std::istringstream words(line);
    std::string id;
    words >> id;
    Wanted& wanted = tests[id];
    for (std::string word; words >> word;) {
      if (word == "gpus") {
        wanted.needs_gpus = true;
      } else if (word == "peers") {
        wanted.needs_peers = true;
      } else if (word == "!nccl") {
        wanted.is_for_nccl = false;
      } else if (word == "nccl") {
        wanted.is_for_others = false;
      } else {
        wanted.isolations.insert(word);
      }
    }
  }
  return tests;
}

void check_run(const Suite& suite, Texts arguments, bool has_gpus, const std::string& isolation) {
  arguments.insert(arguments.end(), suite.arguments.begin(), suite.arguments.end());
  const CaseRun run = run_tests(suite.plugin, {"*"}, arguments);
  const auto ranks = std::find(arguments.begin(), arguments.end(), "--world-size");
  const bool has_peers = ranks == arguments.end() || ranks[1] != "1";
  const bool is_nccl = std::find(arguments.begin(), arguments.end(), "nccl") != arguments.end();
  const std::map<std::string, Wanted> wanted = expected_tests(suite);
  CHECK(run.summary.tests.size() == wanted.size());
  for (const auto& [id, test] : wanted) {
    INFO(id << ": " << run.test(id).message);
    const bool runs = is_nccl ? test.is_for_nccl : test.is_for_others;
    CHECK(run.test(id).verdict == (runs ? test.verdict(has_gpus, has_peers, isolation) : "skip"));
  }
}

void check_on_every_device(const Suite& suite, const std::string& ranks, const std::vector<bool>& some = {true}) {
  for (const bool has_gpus : runs_whole() ? std::vector<bool>{false, true} : some) {
    INFO(ranks << " ranks, " << (has_gpus ? "virtual devices" : "no device"));
    Texts arguments{"--world-size", ranks, "--gpu-driver", has_gpus ? "virtual" : "none"};
    if (has_gpus) arguments.insert(arguments.end(), {"--gpus", suite.gpus});
    check_run(suite, arguments, has_gpus, "process");
  }
}

void check_in_each_isolation(const Suite& suite, const Texts& some = {"pool"}) {
  for (const std::string& isolation : runs_whole() ? Texts{"exec", "pool", "threads"} : some) {
    INFO(isolation);
    check_run(suite, {"--gpu-driver", "virtual", "--gpus", suite.gpus, "--isolation", isolation, "--leaks", "strict"},
              true, isolation);
  }
}

Texts world_sizes(const Texts& some, const Texts& all) { return runs_whole() ? all : some; }

}  // namespace

TEST_CASE("every test of the tensor suite passes, with one rank and four, on every device", "[suite]") {
  for (const char* const ranks : {"1", "4"}) check_on_every_device(kTensor, ranks, {false, true});
}
TEST_CASE("every test of the tensor suite passes on virtual devices in each isolation", "[suite]") {
  check_in_each_isolation(kTensor, {"exec", "pool", "threads"});
}

TEST_CASE("every test of the RPC suite passes, on every device", "[suite]") {
  check_on_every_device(kRpc, "4", {false, true});
}
TEST_CASE("every test of the RPC suite passes on virtual devices in each isolation", "[suite]") {
  check_in_each_isolation(kRpc);
}
TEST_CASE("every test of the RPC suite passes with agent inproc", "[suite]") {
  check_run(kRpc, {"--gpu-driver", "virtual", "--gpus", "2", "--isolation", "threads", "--agent", "inproc"}, true,
            "threads");
}

TEST_CASE("every test of the suite of references passes, on every device", "[suite]") {
  check_on_every_device(kRref, "4");
}
TEST_CASE("every test of the suite of references passes on virtual devices in each isolation", "[suite]") {
  check_in_each_isolation(kRref);
}
TEST_CASE("every test of the suite of references passes with agent inproc", "[suite]") {
  check_run(kRref, {"--gpu-driver", "virtual", "--gpus", "2", "--isolation", "threads", "--agent", "inproc"}, true,
            "threads");
}

TEST_CASE("every test of the distributed autograd suite passes, on every device", "[suite]") {
  check_on_every_device(kDistAutograd, "4");
}
TEST_CASE("every test of the distributed autograd suite passes with ranks that are threads", "[suite]") {
  check_run(kDistAutograd, {"--gpu-driver", "virtual", "--gpus", "4", "--isolation", "threads", "--agent", "inproc"},
            true, "threads");
}

TEST_CASE("every test of the suite of RPC with GPUs passes, on every device", "[suite]") {
  check_on_every_device(kCudaRpc, "4");
}
TEST_CASE("every test of the suite of RPC with GPUs passes on virtual devices in each isolation", "[suite]") {
  check_in_each_isolation(kCudaRpc);
}
TEST_CASE("every test of the suite of RPC with GPUs passes with agent inproc", "[suite]") {
  check_run(kCudaRpc, {"--gpu-driver", "virtual", "--gpus", "4", "--isolation", "threads", "--agent", "inproc"}, true,
            "threads");
}

TEST_CASE("every test of the suite of the profiler passes, on every device", "[suite]") {
  check_on_every_device(kProfiler, "4");
}
TEST_CASE("every test of the suite of the profiler passes on virtual devices in each isolation", "[suite]") {
  check_in_each_isolation(kProfiler);
}
TEST_CASE("every test of the suite of the profiler passes with agent inproc", "[suite]") {
  check_run(kProfiler, {"--gpu-driver", "virtual", "--gpus", "2", "--isolation", "threads", "--agent", "inproc"}, true,
            "threads");
}

TEST_CASE("every test of the collectives suite passes, with one rank, some and eight", "[suite]") {
  check_on_every_device(kCollectives, "3", {false, true});
  for (const std::string& ranks : world_sizes({"1"}, {"1", "2", "5", "8"})) check_on_every_device(kCollectives, ranks);
}
TEST_CASE("every test of the collectives suite passes on virtual devices in each isolation", "[suite]") {
  check_in_each_isolation(kCollectives, {"pool", "threads"});
}
TEST_CASE("every test of the collectives suite passes with backend gloo", "[suite]") {
  skip_case_if(!DISTRUN_HAS_GLOO, "distrun was built without gloo: there is no libgloo-dev");
  for (const std::string& ranks : world_sizes({"3"}, {"2", "3"})) {
    INFO(ranks << " ranks");
    check_run(kCollectives, {"--gpu-driver", "none", "--backend", "gloo", "--world-size", ranks}, false, "process");
  }
  if (runs_whole()) {
    check_run(kCollectives, {"--gpu-driver", "virtual", "--gpus", "2", "--backend", "gloo", "--isolation", "threads"},
              true, "threads");
  }
}
TEST_CASE("every test of the collectives suite for nccl passes on virtual GPUs", "[suite]") {
  for (const std::string& ranks : world_sizes({"3"}, {"2", "3", "4"})) {
    INFO(ranks << " ranks");
    const Texts arguments{"--gpu-driver", "virtual", "--gpus", ranks, "--world-size", ranks, "--backend", "nccl"};
    check_run(kCollectives, arguments, true, "process");
  }
}
TEST_CASE("every test of the collectives suite for nccl passes with ranks that are threads", "[suite]") {
  check_run(
      kCollectives,
      {"--gpu-driver", "virtual", "--gpus", "4", "--backend", "nccl", "--isolation", "threads", "--leaks", "strict"},
      true, "threads");
}
TEST_CASE("without a GPU the collectives suite skips tests for nccl, and says how to run them", "[suite]") {
  const CaseRun run = run_tests(kCollectives.plugin, {"Collectives.*"}, {"--gpu-driver", "none", "--backend", "nccl"});
  CHECK(!run.summary.tests.empty());
  for (const auto& test : run.summary.tests) {
    CHECK(test.verdict == "skip");
    CHECK_THAT(test.message, Catch::Contains("backend nccl needs a GPU for each rank, and the run has none") &&
                                 Catch::EndsWith("--gpu-driver virtual --gpus 4"));
  }
}
TEST_CASE("every test of the collectives suite passes with backend threads, and without single copies", "[suite]") {
  check_run(kCollectives, {"--gpu-driver", "none", "--backend", "threads", "--isolation", "threads"}, false, "threads");
  check_run(kCollectives, {"--gpu-driver", "none", "--env", "DISTRUN_SHM_SINGLE_COPY=0"}, false, "process");
  if (runs_whole()) {
    check_run(kCollectives, {"--gpu-driver", "none", "--env", "DISTRUN_SHM_SINGLE_COPY=0", "--isolation", "threads"},
              false, "threads");
  }
}
