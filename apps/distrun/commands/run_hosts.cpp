#include "run_hosts.hpp"

#include <utility>

#include <distrun/common/base/error.hpp>
#include <distrun/runner/attempt/run_orders.hpp>
#include <distrun/runner/proc/program.hpp>

namespace distrun::cli {
namespace {

constexpr auto kSignalPatience = std::chrono::milliseconds(300);

nodes::Cluster::Settings settings_of(const RunOptions& options, const proc::RunPlaces& places) {
  nodes::Cluster::Settings settings;
  settings.engine = options.hosts.engine;
  settings.hosts = options.hosts.hosts;
  settings.per_host = options.hosts.per_host;
  settings.join_timeout = options.hosts.join_timeout;
  settings.program = proc::program_beside("distrun");
  settings.directory = places.start_dir;
  settings.version = DISTRUN_VERSION;
  settings.store_secret = runner::store_secret(options.settings);
  nodes::Welcome& welcome = settings.welcome;
  welcome.run_id = places.run_id;
  welcome.keep_work_dir = options.settings.keep_work_dir;
  welcome.leaks_off = options.settings.leaks_off;
  welcome.live_output = options.live_output;
  welcome.jobs = options.hosts.jobs_by_cpus ? 0 : options.settings.jobs;
  welcome.any_files = options.settings.program.empty();
  welcome.bind = options.settings.bind;
  welcome.private_tmp = options.settings.private_tmp;
  welcome.plugins = options.settings.plugins;
  return settings;
}

}  // namespace

RunHosts::RunHosts(io::Loop& loop, const RunOptions& options, const proc::RunPlaces& places, runner::EventSink& events,
                   std::function<void(const std::string& why)> on_ending)
    : loop_(loop),
      events_(events),
      cluster_(loop, settings_of(options, places), std::move(on_ending)),
      patience_over_(loop) {}

void RunHosts::add_problem(runner::Run& run, const char* phase, std::string text) {
  run.record().problems.push_back({"", phase, std::move(text)});
  events_.on_problem(run.record().problems.back());
}

io::Task<bool> RunHosts::assemble(runner::Run& run) {
  std::string failure;
  try {
    co_await cluster_.assemble();
    is_assembled_ = true;
    run.record().settings.jobs = cluster_.jobs();
  } catch (const Error& error) {
    failure = error.what();
  }
  if (!is_assembled_) co_await await_cancel();
  if (is_cancelled_) {
    run.record().interrupted = true;
  } else if (!is_assembled_) {
    add_problem(run, "start", failure);
  }
  co_return is_assembled_;
}

// A signal for all processes of a run, as from a batch system, may end launchers and nodes before it arrives here.
io::Task<void> RunHosts::await_cancel() {
  const auto end = [this] {
    if (!patience_over_.is_set()) patience_over_.set(true);
  };
  io::Alarm alarm(loop_, end);
  alarm.set_after(kSignalPatience);
  co_await patience_over_.wait();
}

void RunHosts::cancel() {
  if (is_assembled_) return;
  is_cancelled_ = true;
  cluster_.cancel();
  if (!patience_over_.is_set()) patience_over_.set(true);
}

io::Task<void> RunHosts::end(runner::Run& run) {
  const std::vector<std::pair<std::string, nodes::Closed>> found = co_await cluster_.end();
  for (const auto& [host, closed] : found) {
    for (const std::string& name : closed.suspicions) {
      add_problem(run, "left behind", name + " was left behind on " + host + " by one of several tests");
    }
    for (const std::string& stuck : closed.stuck) add_problem(run, "left behind", stuck + " on " + host);
    for (const std::string& name : closed.strangers) {
      if (run.record().appeared.size() < runner::kAppearedMax) run.record().appeared.push_back(name + " on " + host);
    }
  }
}

}  // namespace distrun::cli
