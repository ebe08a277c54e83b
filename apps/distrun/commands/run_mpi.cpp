#include "run_mpi.hpp"

#include <cstdlib>

#include <distrun/common/base/error.hpp>
#include <distrun/runner/attempt/cpu_share.hpp>
#include <distrun/runner/mpi/linked_mpi.hpp>
#include <distrun/runner/proc/find_program.hpp>

namespace distrun::cli {
namespace {

constexpr char kAloneEach[] = "each rank is an MPI world of one";

// On other hosts the program may be another one, or exist only there.
mpi::LinkedMpi mpi_of(const runner::Settings& settings) {
  std::string path = settings.program_path;
  const char* const folders = std::getenv("PATH");
  try {
    path = proc::find_program(path, folders != nullptr ? folders : proc::kUsualPath);
  } catch (const Error&) {
    return {};
  }
  return mpi::find_mpi(path, mpi::library_path_of(settings));
}

}  // namespace

void check_mpi(const runner::Settings& settings) {
  if (settings.mpi != runner::MpiUse::On) return;
  const std::string why_none = mpi::Worlds::why_none();
  if (!why_none.empty()) throw Error(ErrorKind::InvalidArgument, "--mpi on: " + why_none);
}

RunMpi::RunMpi(CoordinatorLoop& main, const RunOptions& options, const proc::RunPlaces& places,
               runner::EventSink& events)
    : events_(events), is_verbose_(options.program.verbose) {
  const runner::Settings& settings = options.settings;
  if (settings.program.empty() || settings.mpi == runner::MpiUse::Off) return;
  const bool is_wanted = settings.mpi == runner::MpiUse::On;
  const mpi::LinkedMpi linked = is_wanted ? mpi::LinkedMpi{mpi::Linked::Joins, ""} : mpi_of(settings);
  if (linked.how == mpi::Linked::None) return;
  const std::string needs = settings.program.front() + " needs " + linked.library + ", ";
  const std::string why_no_server = mpi::Worlds::why_none();
  if (linked.how == mpi::Linked::Alone) {
    why_none_ = needs + "an MPI that cannot join a world of distrun (Open MPI and MPIs with PMIx can): " + kAloneEach;
  } else if (!options.hosts.hosts.empty()) {
    why_none_ = needs + "but distrun has no world of MPI on several hosts: " + kAloneEach;
  } else if (!why_no_server.empty()) {
    why_none_ = needs + "but " + why_no_server + ": " + kAloneEach;
  } else {
    const int ranks = settings.world_size;
    worlds_.emplace(main.loop(), main.node(), places);
    world_ = worlds_->start({ranks, ranks > runner::cpus_for_ranks(), true, settings.private_tmp});
  }
}

void RunMpi::tell(runner::Run& run, const std::string& notice) {
  run.record().notices.push_back(notice);
  events_.on_notice(notice);
}

// The end of a run that says something says this, too.
void RunMpi::tell_at_end(runner::Run& run, const std::string& notice) {
  const bool is_silent = !is_verbose_ && exit_code_of(run.record()) == 0;
  is_silent ? tell(run, notice) : run.record().notices.push_back(notice);
}

io::Task<bool> RunMpi::assemble(runner::Run& run) {
  if (!why_none_.empty()) tell(run, why_none_);
  if (world_ == nullptr) co_return true;
  const std::string failure = co_await world_->server().ready(mpi::kReadyBound);
  if (failure.empty()) {
    run.serve_mpi(world_->server());
    co_return true;
  }
  run.record().problems.push_back({"", "start", failure});
  events_.on_problem(run.record().problems.back());
  co_return false;
}

void RunMpi::end(runner::Run& run) {
  if (world_ == nullptr) return;
  mpi::Server& server = world_->server();
  server.drain();
  const bool has_run = !run.record().tests.empty() && !run.record().interrupted;
  if (has_run && !server.has_joined()) {
    tell_at_end(run, "no rank has joined the world of MPI: none has called MPI_Init of an MPI that can");
  }
  world_.reset();
}

}  // namespace distrun::cli
