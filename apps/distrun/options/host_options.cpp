#include "host_options.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <climits>

#include <distrun/common/base/duration.hpp>
#include <distrun/runner/nodes/split_world.hpp>

#include "parsing.hpp"

namespace distrun::cli {
namespace {

// A node that is started by hand is a mistake more often than not.
constexpr char kNodeNotes[] = R"(
Notes:
  distrun starts this on each host of a run with --hosts. The run's secret is the first line of
  its standard input; the node ends when that is closed.)";

void take_allocation(const nodes::Variables& variables, bool is_wanted, HostsOptions& hosts) {
  const std::optional<nodes::Allocation> allocation = nodes::find_allocation(variables);
  if (!allocation) {
    if (is_wanted) refuse("--launcher slurm: this is no allocation of Slurm; begin with salloc or sbatch");
    return;
  }
  if (allocation->is_one_of_many) {
    if (!is_wanted) return;
    refuse("--launcher slurm: Slurm has started several distruns; start one, which starts the ranks");
  }
  if (is_wanted || allocation->hosts.size() > 1) hosts.hosts = allocation->hosts;
}

}  // namespace

void add_host_options(CLI::App& app, Raw& raw) {
  begin_group(app, "Hosts");
  app.add_option("--hosts", raw.hosts,
                 "Run the ranks on these hosts, as in a,b:4,node[01-08] (a number: of ranks that fit there); default: "
                 "the nodes of Slurm's allocation if it has several, else this machine")
      ->type_name("LIST");
  app.add_option("--launcher", raw.launcher,
                 "What starts distrun on each host: ssh (default), slurm (default in an allocation), local (processes "
                 "of this machine, to try it), or a command like 'rsh {host} {node}'")
      ->type_name("ssh|slurm|local|COMMAND");
  app.add_option("--per-host", raw.per_host, "Put N ranks on each host, until none is left (default: evenly)")
      ->type_name("N");
  app.add_option("--join-timeout", raw.join_timeout, "How long hosts may take to begin")->type_name("TIME");
}

HostsOptions hosts_of(const Raw& raw, bool is_typed, const nodes::Variables& variables) {
  HostsOptions hosts;
  if (!raw.launcher.empty()) hosts.engine = nodes::parse_engine("--launcher", raw.launcher);
  const bool wants_slurm = !raw.launcher.empty() && hosts.engine.kind == nodes::EngineKind::Slurm;
  const bool may_take = raw.launcher.empty() || wants_slurm;
  if (may_take && !is_typed) take_allocation(variables, wants_slurm && raw.hosts.empty(), hosts);
  if (hosts.hosts.empty() && !raw.hosts.empty()) hosts.hosts = nodes::parse_hosts("--hosts", raw.hosts);
  if (hosts.hosts.empty()) {
    if (!raw.launcher.empty()) refuse("--launcher " + raw.launcher + " needs --hosts");
    if (!raw.per_host.empty()) refuse("--per-host needs --hosts, or an allocation of Slurm with several nodes");
    return hosts;
  }
  if (raw.launcher.empty()) {
    const bool is_in_allocation = nodes::find_allocation(variables).has_value();
    hosts.engine.kind = is_in_allocation ? nodes::EngineKind::Slurm : nodes::EngineKind::Ssh;
  }
  if (!raw.per_host.empty()) hosts.per_host = number("--per-host", raw.per_host, 1, INT_MAX);
  hosts.join_timeout = base::parse_duration("--join-timeout", raw.join_timeout);
  return hosts;
}

void adapt_to_hosts(const Raw& raw, RunOptions& run, bool has_backend) {
  const HostsOptions& hosts = run.hosts;
  if (hosts.hosts.empty()) return;
  runner::Settings& settings = run.settings;
  settings.hosts = raw.hosts;
  settings.launcher = raw.launcher;
  settings.per_host = hosts.per_host;
  run.hosts.jobs_by_cpus = raw.jobs == "auto";
  if (run.hosts.jobs_by_cpus) settings.jobs = 1;  // until the hosts have joined
  std::vector<int> sizes = settings.world_sizes;
  if (sizes.empty()) sizes.push_back(settings.world_size);
  for (const int size : sizes) (void)nodes::split_world(size, hosts.hosts, hosts.per_host);
  if (hosts.hosts.size() > 1 && !has_backend) settings.backend = "gloo";
}

CommandLine parse_node(const Arguments& arguments) {
  CommandLine line;
  std::string join;
  CLI::App app("Runs ranks on this host for a run that was started on another one.", "distrun node");
  app.footer(kNodeNotes);
  app.add_option("--join", join, "Where the run listens")->required()->type_name("HOST:PORT[,...]");
  app.add_option("--host", line.node.host, "The name of this host in the run")->required()->type_name("NAME");
  app.add_option("--directory", line.node.directory, "Where the run was started")->type_name("DIR");
  app.add_flag("--own-tmp", line.node.own_tmp, "Use a temporary directory that no other node of this machine uses");
  if (!parse(app, arguments)) return line;
  line.node.places = nodes::parse_places("--join", join);
  if (!nodes::is_host_name(line.node.host)) refuse("--host " + line.node.host + ": no name of a host");
  line.kind = CommandKind::Node;
  return line;
}

}  // namespace distrun::cli
