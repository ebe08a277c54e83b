// Which hosts a run uses, by its options and by Slurm's allocation.
#include <catch2/catch.hpp>

#include <map>

#include <distrun/common/base/error.hpp>

#include "../../support/error_of.hpp"
#include "options/host_options.hpp"
#include "options/raw_options.hpp"

using namespace distrun;
using namespace distrun::cli;
using Catch::Contains;
using Catch::StartsWith;
using nodes::EngineKind;

namespace {

using Environment = std::map<std::string, std::string>;

const Environment kTwoNodes{{"SLURM_JOB_ID", "77"}, {"SLURM_JOB_NODELIST", "node[01-02]"}};
const Environment kOneNode{{"SLURM_JOB_ID", "77"}, {"SLURM_JOB_NODELIST", "node01"}};

HostsOptions hosts_in(const Environment& environment, const Raw& raw) {
  return hosts_of(raw, !raw.hosts.empty(), [&environment](const char* name) {
    const auto found = environment.find(name);
    return found == environment.end() ? std::string() : found->second;
  });
}

template <class Call>
std::string refusal_by(Call call) {
  const Error error = testing::error_of(call);
  CHECK(error.kind() == ErrorKind::InvalidArgument);
  return error.what();
}
std::string refusal_in(const Environment& environment, const Raw& raw) {
  return refusal_by([&] { hosts_in(environment, raw); });
}

Raw with_hosts(const std::string& hosts, const std::string& launcher = "", const std::string& per_host = "") {
  Raw raw;
  raw.hosts = hosts;
  raw.launcher = launcher;
  raw.per_host = per_host;
  return raw;
}

RunOptions adapted(const Raw& raw, int world_size, bool has_backend) {
  RunOptions run;
  run.hosts = hosts_in({}, raw);
  run.settings.world_size = world_size;
  adapt_to_hosts(raw, run, has_backend);
  return run;
}

}  // namespace

TEST_CASE("without options and outside of an allocation, ranks run on this machine") {
  CHECK(hosts_in({}, Raw()).hosts.empty());
  CHECK(hosts_in(kOneNode, Raw()).hosts.empty());
  CHECK(adapted(Raw(), 4, false).settings.backend == runner::Settings().backend);
}

TEST_CASE("hosts are reached by ssh, in an allocation by Slurm, or as the user says") {
  CHECK(hosts_in({}, with_hosts("a,b:4")).engine.kind == EngineKind::Ssh);
  CHECK(hosts_in({}, with_hosts("a,b:4")).hosts == std::vector<nodes::HostSlot>{{"a", 0}, {"b", 4}});
  CHECK(hosts_in(kTwoNodes, with_hosts("node02")).engine.kind == EngineKind::Slurm);
  CHECK(hosts_in(kTwoNodes, with_hosts("node02")).hosts == std::vector<nodes::HostSlot>{{"node02", 0}});
  CHECK(hosts_in(kTwoNodes, with_hosts("a", "local")).engine.kind == EngineKind::Local);
  CHECK(hosts_in({}, with_hosts("a", "rsh {host} {node}")).engine.command == "rsh {host} {node}");
}

TEST_CASE("an allocation of several nodes is used by itself, one of a single node on request") {
  const std::vector<nodes::HostSlot> both{{"node01", 0}, {"node02", 0}};
  CHECK(hosts_in(kTwoNodes, Raw()).hosts == both);
  CHECK(hosts_in(kTwoNodes, Raw()).engine.kind == EngineKind::Slurm);
  CHECK(hosts_in(kTwoNodes, with_hosts("", "", "3")).per_host == 3);
  CHECK(hosts_in(kOneNode, with_hosts("", "slurm")).hosts == std::vector<nodes::HostSlot>{{"node01", 0}});
}

TEST_CASE("of several distruns that Slurm has started, each runs its ranks by itself") {
  Environment environment = kTwoNodes;
  environment["SLURM_STEP_NUM_TASKS"] = "2";
  CHECK(hosts_in(environment, Raw()).hosts.empty());
  CHECK_THAT(refusal_in(environment, with_hosts("", "slurm")),
             StartsWith("--launcher slurm: Slurm has started several"));
}

TEST_CASE("options of hosts that make no sense are refused, with what to do") {
  CHECK_THAT(refusal_in({}, with_hosts("", "ssh")), StartsWith("--launcher ssh needs --hosts"));
  CHECK_THAT(refusal_in({}, with_hosts("", "slurm")), Contains("begin with salloc or sbatch"));
  CHECK_THAT(refusal_in({}, with_hosts("", "", "2")), StartsWith("--per-host needs --hosts"));
  CHECK_THAT(refusal_in({}, with_hosts("a", "", "0")), StartsWith("--per-host 0: expected a number from 1"));
  CHECK_THAT(refusal_in({}, with_hosts("a", "shh")), StartsWith("--launcher shh: expected local, ssh, slurm"));
  CHECK_THAT(refusal_in({}, with_hosts("a,-b")), StartsWith("--hosts"));
  CHECK_THAT(refusal_in({}, with_hosts("a,a")), StartsWith("--hosts"));
  Raw late = with_hosts("a");
  late.join_timeout = "soon";
  CHECK_THAT(refusal_in({}, late), StartsWith("--join-timeout"));
}

TEST_CASE("several hosts use gloo, unless the user has chosen a backend") {
  CHECK(adapted(with_hosts("a,b"), 4, false).settings.backend == "gloo");
  CHECK(adapted(with_hosts("a"), 4, false).settings.backend == runner::Settings().backend);
  CHECK(adapted(with_hosts("a,b"), 4, true).settings.backend == runner::Settings().backend);
}

TEST_CASE("a world that does not fit on the hosts is refused before anything starts") {
  CHECK_THAT(refusal_by([] { adapted(with_hosts("a:1,b:2"), 4, false); }),
             Contains("a world of 4 ranks does not fit on 2 hosts"));
  CHECK_THAT(refusal_by([] { adapted(with_hosts("a,b", "", "1"), 4, false); }), Contains("by --per-host 1"));
  CHECK(adapted(with_hosts("a,b", "", "2"), 4, false).settings.per_host == 2);
}

TEST_CASE("hosts have every option of runs on one machine") {
  Raw raw = with_hosts("a,b");
  raw.trace = "traces";
  RunOptions run;
  run.hosts = hosts_in({}, raw);
  run.settings.bind = runner::Bind::Core;
  run.settings.private_tmp = true;
  run.settings.stress = std::chrono::seconds(1);
  run.settings.debug_rank = 1;
  CHECK_NOTHROW(adapt_to_hosts(raw, run, false));
}
