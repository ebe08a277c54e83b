#include <catch2/catch.hpp>

#include <distrun/runner/nodes/allocation.hpp>
#include <distrun/runner/nodes/host_list.hpp>
#include <distrun/runner/nodes/split_world.hpp>

#include <map>

#include "support/error_of.hpp"

namespace distrun::nodes {
namespace {

using Names = std::vector<std::string>;
using testing::error_of;

TEST_CASE("lists of hosts in Slurm's notation are expanded in their order") {
  struct Row {
    const char* list;
    Names names;
  };
  const std::vector<Row> rows{
      {"node01", {"node01"}},
      {"a,b", {"a", "b"}},
      {"node[1-3]", {"node1", "node2", "node3"}},
      {"node[08-10]", {"node08", "node09", "node10"}},
      {"node[9-11]", {"node9", "node10", "node11"}},
      {"node[001,003-004],login", {"node001", "node003", "node004", "login"}},
      {"r[1-2]n[1,3]", {"r1n1", "r1n3", "r2n1", "r2n3"}},
      {"n[1-2]-ib,m[7]", {"n1-ib", "n2-ib", "m7"}},
      {"[1-2]", {"1", "2"}},
      {"b,a,b", {"b", "a", "b"}},
      {"10.0.0.1,gpu_1.example.org", {"10.0.0.1", "gpu_1.example.org"}},
  };
  for (const Row& row : rows) {
    CAPTURE(row.list);
    CHECK(expand_hosts("SLURM_JOB_NODELIST", row.list) == row.names);
  }
}

TEST_CASE("a list of hosts that cannot be read is refused with its source, the value and what is allowed") {
  struct Row {
    const char* list;
    const char* why;
  };
  const std::vector<Row> rows{
      {"", "the list is empty"},
      {",", "a name is empty"},
      {"a,", "a name is empty"},
      {"a,,b", "a name is empty"},
      {"-oProxyCommand=x", "is not a host name"},
      {"a;reboot", "\"a;reboot\" is not a host name"},
      {"a b", "is not a host name"},
      {"$(id)", "is not a host name"},
      {"node[1-2", "a bracket is not closed"},
      {"node1]", "a bracket does not match"},
      {"node[[1]]", "a bracket does not match"},
      {"node[]", "\"\" in brackets is neither a number nor a range"},
      {"node[1,]", "in brackets is neither a number nor a range"},
      {"node[2-1]", "\"2-1\" in brackets"},
      {"node[a-b]", "\"a-b\" in brackets"},
      {"node[-1]", "\"-1\" in brackets"},
      {"node[1-2-3]", "\"1-2-3\" in brackets"},
      {"node[+1]", "\"+1\" in brackets"},
      {"node[1-99999999999]", "in brackets"},
      {"node[1-2000]", "it has more than 1024 hosts"},
      {"a[1-40]b[1-40]", "it has more than 1024 hosts"},
      {"a[1-600],b[1-600]", "it has more than 1024 hosts"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.list);
    const Error error = error_of([&] { expand_hosts("--hosts", row.list); });
    CHECK(error.kind() == ErrorKind::InvalidArgument);
    CHECK_THAT(error.text(), Catch::StartsWith("--hosts "));
    CHECK_THAT(error.text(), Catch::Contains(row.why));
    CHECK_THAT(error.text(), Catch::Contains("expected host names separated by commas"));
  }
}

TEST_CASE("hosts may have numbers of ranks") {
  CHECK(parse_hosts("--hosts", "a,b:4,c") == std::vector<HostSlot>{{"a", 0}, {"b", 4}, {"c", 0}});
  CHECK(parse_hosts("--hosts", "node[1-2]:8,x") == std::vector<HostSlot>{{"node1", 8}, {"node2", 8}, {"x", 0}});
  for (const char* list : {"a:", "a:0", "a:-1", "a:x", "a:4:4", "a:1025", ":4", "a:1e3", "node[1-2:4]"}) {
    CAPTURE(list);
    CHECK_THAT(error_of([&] { parse_hosts("--hosts", list); }).text(),
               Catch::StartsWith("--hosts " + std::string(list)));
  }
  CHECK_THAT(error_of([] { parse_hosts("--hosts", "a:0"); }).text(),
             Catch::Contains("\"0\" is not a number of ranks (1 to 1024)"));
  CHECK_THAT(error_of([] { parse_hosts("--hosts", "a,node[1-2],node2"); }).text(),
             Catch::Contains("the host node2 occurs twice"));
}

TEST_CASE("control characters of a list do not reach the terminal") {
  const std::string text = error_of([] { parse_hosts("--hosts", "a\x1b[31m"); }).text();
  CHECK(text.find('\x1b') == std::string::npos);
}

TEST_CASE("a world is split in blocks, the first ranks on the first host") {
  struct Row {
    int size;
    std::vector<HostSlot> hosts;
    int per_host;
    std::vector<int> ranks;
  };
  const std::vector<Row> rows{
      {4, {{"a", 0}, {"b", 0}}, 0, {2, 2}},
      {5, {{"a", 0}, {"b", 0}, {"c", 0}}, 0, {2, 2, 1}},
      {1, {{"a", 0}, {"b", 0}}, 0, {1, 0}},
      {6, {{"a", 4}, {"b", 4}}, 0, {4, 2}},
      {8, {{"a", 4}, {"b", 0}, {"c", 0}}, 0, {4, 2, 2}},
      {2, {{"a", 0}, {"b", 4}}, 0, {0, 2}},
      {4, {{"a", 8}, {"b", 8}}, 2, {2, 2}},
      {3, {{"a", 0}, {"b", 0}}, 2, {2, 1}},
  };
  for (const Row& row : rows) {
    CAPTURE(row.size, row.per_host);
    CHECK(split_world(row.size, row.hosts, row.per_host) == row.ranks);
  }
}

TEST_CASE("a world that does not fit is refused with the number of ranks that do") {
  const Error per_host = error_of([] { split_world(8, {{"a", 0}, {"b", 0}, {"c", 0}}, 2); });
  CHECK_THAT(per_host.text(), Catch::StartsWith("a world of 8 ranks does not fit on 3 hosts: by --per-host 2, 6 fit;"));
  const Error slots = error_of([] { split_world(8, {{"a", 4}, {"b", 3}}, 0); });
  CHECK_THAT(slots.text(), Catch::Contains("by the numbers of ranks in the list, 7 fit"));
}

// Variables of a job as Slurm sets them.
using Job = std::map<std::string, std::string>;
Variables variables_of(const Job& job) {
  return [job](const char* name) {
    const auto at = job.find(name);
    return at == job.end() ? std::string() : at->second;
  };
}
std::optional<Allocation> allocation_of(const Job& job) { return find_allocation(variables_of(job)); }

TEST_CASE("hosts of an allocation come from Slurm's variables") {
  CHECK(!allocation_of({}));
  CHECK(!allocation_of({{"SLURM_JOB_NODELIST", "node1"}}));
  CHECK(!allocation_of({{"SLURM_JOB_ID", "7"}}));

  const auto bare = allocation_of({{"SLURM_JOB_ID", "7"}, {"SLURM_JOB_NODELIST", "node[01-02]"}});
  REQUIRE(bare);
  CHECK(bare->job == "7");
  CHECK(bare->hosts == std::vector<HostSlot>{{"node01", 0}, {"node02", 0}});
  CHECK(!bare->is_one_of_many);

  const auto old = allocation_of({{"SLURM_JOBID", "8"}, {"SLURM_NODELIST", "a"}});
  REQUIRE(old);
  CHECK(old->hosts == std::vector<HostSlot>{{"a", 0}});
}

TEST_CASE("numbers of tasks count only if the job was submitted with one") {
  Job job{{"SLURM_JOB_ID", "7"}, {"SLURM_JOB_NODELIST", "n[1-4]"}, {"SLURM_TASKS_PER_NODE", "2(x3),1"}};
  CHECK(allocation_of(job)->hosts[0].ranks == 0);
  job["SLURM_NTASKS"] = "7";
  CHECK(allocation_of(job)->hosts == std::vector<HostSlot>{{"n1", 2}, {"n2", 2}, {"n3", 2}, {"n4", 1}});
  for (const char* tasks : {"2(x3)", "2(x5)", "2(x3),1,1", "2(x3),", "x", "2(3),1", "2(x),1", "2(x3,1", "0(x4)",
                            "2(x-3),1", "2(x99999999999999999999)"}) {
    CAPTURE(tasks);
    job["SLURM_TASKS_PER_NODE"] = tasks;
    CHECK_THAT(error_of([&] { allocation_of(job); }).text(),
               Catch::StartsWith("SLURM_TASKS_PER_NODE " + std::string(tasks) + ": "));
  }
}

TEST_CASE("a process that srun has started with others is not the one that starts them") {
  Job job{{"SLURM_JOB_ID", "7"}, {"SLURM_JOB_NODELIST", "n[1-2]"}, {"SLURM_STEP_NUM_TASKS", "1"}};
  CHECK(!allocation_of(job)->is_one_of_many);
  job["SLURM_STEP_NUM_TASKS"] = "2";
  CHECK(allocation_of(job)->is_one_of_many);
}

TEST_CASE("a step knows how many CPUs of its host it has") {
  CHECK(cpus_of_step(variables_of({{"SLURM_CPUS_ON_NODE", "4"}})) == 4);
  for (const char* none : {"", "0", "-1", "4(x2)", "many", "99999999999"}) {
    CAPTURE(none);
    CHECK(!cpus_of_step(variables_of({{"SLURM_CPUS_ON_NODE", none}})));
  }
}

TEST_CASE("variables of launchers are known by their names") {
  for (const char* name :
       {"SLURM_JOB_ID", "SLURM_PROCID", "SLURMD_NODENAME", "SRUN_DEBUG", "PMI_RANK", "PMI2_X", "PMIX_RANK"}) {
    CAPTURE(name);
    CHECK(is_engine_variable(name));
  }
  for (const char* name : {"SLURM_CONF", "PATH", "SLURM", "MY_SLURM_JOB_ID", "PMIRANK", ""}) {
    CAPTURE(name);
    CHECK(!is_engine_variable(name));
  }
}

}  // namespace
}  // namespace distrun::nodes
