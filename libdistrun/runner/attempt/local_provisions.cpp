#include <distrun/runner/attempt/local_provisions.hpp>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include <distrun/common/base/free_port.hpp>
#include <distrun/runner/attempt/cpu_share.hpp>
#include <distrun/runner/attempt/program.hpp>
#include <distrun/runner/attempt/run_orders.hpp>
#include <distrun/runner/mpi/server.hpp>
#include <distrun/runner/proc/find_program.hpp>

namespace distrun::runner {
LocalProvisions::LocalProvisions(const RunContext& run, const PlannedTest& test, int n, const Environment& environment)
    : Provisions(common_order(test, run.settings, run.run_id, n)),
      run_(run),
      test_(test),
      cpus_(environment.cpus != nullptr ? *environment.cpus : LaneCpus()),
      mpi_(environment.mpi),
      dirs_(run.dirs.take(test.variant.world_size)),
      trace_(make_trace_memory(run, test)),
      resources_(run.names, dirs_.get(), environment.private_tmp, test.id) {
  order_.stay = environment.stay;
  Meeting meeting;
  meeting.store = store_->path();
  meeting.init_method = "file://" + dirs_->shared() + "/rendezvous";
  if (test.info.env_rendezvous) meeting.port = base::find_free_port();
  add_meeting(order_, test, meeting);
  add_trace(order_, trace_.get());
  if (!run.settings.leaks_off) order_.watched = watched_by_ranks(run.names, environment.private_tmp);
}

wire::RunOrder LocalProvisions::order_of(int rank, const launch::World& /*world*/) const {
  wire::RunOrder order = order_;
  order.rank = rank;
  OnMachine machine;
  machine.local_rank = rank;
  machine.temp_dir = dirs_->shared();
  machine.work_dir = dirs_->of(rank);
  machine.tmp_dir = test_.is_host() ? test_.share->tmp_dir : dirs_->tmp_of(order.threads ? 0 : rank);
  machine.threads = threads_each(cpus_for_ranks(), order.world_size * run_.settings.jobs);
  machine.cpus = cpus_.of(rank, order.world_size);
  machine.cpu_count = cpus_.count(order.world_size);
  add_machine(order, machine, test_.info.env_rendezvous, test_.info.gpu_per_rank);
  if (mpi_ != nullptr) join_mpi(order);
  order.debug = rank == run_.settings.debug_rank && !test_.is_host();
  return order;
}

launch::ProgramSpec LocalProvisions::program() const {
  launch::ProgramSpec program = local_program_spec(run_.settings, run_.run_id, dirs_->shared());
  bind(program, cpus_);
  if (mpi_ != nullptr) join_mpi(program);
  return program;
}

std::vector<std::vector<std::string>> LocalProvisions::wrappers() const {
  std::vector<std::vector<std::string>> all;
  if (run_.settings.wrappers.empty() || test_.is_host()) return all;
  const char* path = std::getenv("PATH");
  for (int rank = 0; rank < test_.variant.world_size; ++rank) {
    all.push_back(wrapper_of(run_.settings.wrappers, rank, test_.variant.world_size, dirs_->of(rank)));
    std::vector<std::string>& words = all.back();
    if (!words.empty()) words.front() = proc::find_program(words.front(), path != nullptr ? path : proc::kUsualPath);
  }
  return all;
}

std::vector<std::string> LocalProvisions::keep_files(int rank) {
  std::vector<std::string> files;
  if (test_.is_host() || !wrapper_uses_work_dir(run_.settings.wrappers, rank)) return files;
  for (const proc::NewName& name : proc::names_in(dirs_->of(rank))) files.push_back(name.path);
  std::sort(files.begin(), files.end());
  if (!files.empty()) dirs_->keep();
  return files;
}

void LocalProvisions::join_mpi(launch::ProgramSpec& program) const {
  for (int rank = 0; rank < test_.variant.world_size; ++rank) {
    std::vector<std::string>& variables = program.variables.at(static_cast<std::size_t>(rank));
    const std::vector<std::string>& more = mpi_->variables_of(rank);
    variables.insert(variables.end(), more.begin(), more.end());
  }
}

void LocalProvisions::join_mpi(wire::RunOrder& order) const {
  for (const std::string& variable : mpi_->variables_of(order.rank)) {
    const std::size_t at = variable.find('=');
    order.env.push_back({variable.substr(0, at), variable.substr(at + 1)});
  }
}

void LocalProvisions::inspect(launch::World& world, OnInspected on_inspected) {
  on_inspected(!world.has_offspring() && !resources_.any());
}

std::vector<std::shared_ptr<const void>> LocalProvisions::keep(launch::World& /*world*/, bool holds) {
  if (!holds) return {};
  return {dirs_, store_};
}

void LocalProvisions::sweep(launch::World& world, bool patient, OnSwept on_swept) {
  sweep_ = std::make_unique<Sweep>(run_.loop, world, resources_, run_.graces, patient, std::move(on_swept));
  sweep_->start();
}

}  // namespace distrun::runner
