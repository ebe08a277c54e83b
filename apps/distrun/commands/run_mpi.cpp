#include "run_mpi.hpp"

#include <sys/stat.h>

#include <cstdlib>

#include <distrun/common/base/directories.hpp>
#include <distrun/common/base/error.hpp>
#include <distrun/runner/attempt/cpu_share.hpp>
#include <distrun/runner/mpi/linked_mpi.hpp>
#include <distrun/runner/proc/child.hpp>
#include <distrun/runner/proc/environment.hpp>
#include <distrun/runner/proc/find_program.hpp>
#include <distrun/runner/proc/program.hpp>

namespace distrun::cli {
namespace {

constexpr char kServer[] = "distrun-pmix";
constexpr char kHowToGetServer[] = "install distrun-mpi, or build distrun where libpmix-dev is installed";
constexpr char kAloneEach[] = "each rank is an MPI world of one";
constexpr auto kReadyBound = std::chrono::seconds(60);  // usually a tenth of a second

std::string find_server() {
  try {
    return proc::program_beside(kServer);
  } catch (const Error&) {
    return "";
  }
}

// The value that ranks have.
std::string library_path_of(const runner::Settings& settings) {
  const char* const own = std::getenv("LD_LIBRARY_PATH");
  std::string value = own != nullptr ? own : "";
  for (const wire::KeyValue& pair : settings.env) {
    if (pair.key == "LD_LIBRARY_PATH") value = pair.value;
  }
  return value;
}

// On other hosts the program may be another one, or exist only there.
mpi::LinkedMpi mpi_of(const runner::Settings& settings) {
  std::string path = settings.program_path;
  const char* const folders = std::getenv("PATH");
  try {
    path = proc::find_program(path, folders != nullptr ? folders : proc::kUsualPath);
  } catch (const Error&) {
    return {};
  }
  return mpi::find_mpi(path, library_path_of(settings));
}

std::string make_directory_of_run(const proc::RunPlaces& places) {
  const std::string directory = places.run_dir() + "/mpi";
  base::make_directories(directory);
  return directory;
}

// Returns a directory in /dev/shm with the run's id in its name, so that the end of the run removes what ranks that
// were killed have left in it. Ranks with a private /dev/shm do not see that, and use the run's directory, as on a
// machine without one.
std::string make_shared(const runner::Settings& settings, const proc::RunPlaces& places) {
  const std::string directory = "/dev/shm/distrun-" + places.run_id + "-mpi";
  const bool is_made = !settings.private_tmp && ::mkdir(directory.c_str(), 0700) == 0;
  return is_made ? directory : make_directory_of_run(places);
}

wire::MpiOrder order_of(const runner::Settings& settings, const proc::RunPlaces& places) {
  wire::MpiOrder order;
  order.world = "distrun-" + places.run_id;
  order.ranks = settings.world_size;
  order.directory = make_directory_of_run(places);
  order.shared = make_shared(settings, places);
  order.host = proc::host_name();
  order.crowded = settings.world_size > runner::cpus_for_ranks();
  return order;
}

}  // namespace

void check_mpi(const runner::Settings& settings) {
  if (settings.mpi != runner::MpiUse::On || !find_server().empty()) return;
  throw Error(ErrorKind::InvalidArgument,
              std::string("--mpi on needs ") + kServer + " beside distrun; " + kHowToGetServer);
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
  const std::string server = find_server();
  if (linked.how == mpi::Linked::Alone) {
    why_none_ = needs + "an MPI that cannot join a world of distrun (Open MPI and MPIs with PMIx can): " + kAloneEach;
  } else if (!options.hosts.hosts.empty()) {
    why_none_ = needs + "but distrun has no world of MPI on several hosts: " + kAloneEach;
  } else if (server.empty()) {
    why_none_ = needs + "but " + kServer + " is not there: " + kAloneEach + "; " + kHowToGetServer;
  } else {
    server_.emplace(main.loop(), mpi::Server::Program{server, proc::inherited_environment()},
                    order_of(settings, places));
    main.node().spare(server_->pid());
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
  if (!server_) co_return true;
  const std::string failure = co_await server_->ready(kReadyBound);
  if (failure.empty()) {
    run.serve_mpi(*server_);
    co_return true;
  }
  run.record().problems.push_back({"", "start", failure});
  events_.on_problem(run.record().problems.back());
  co_return false;
}

void RunMpi::end(runner::Run& run) {
  if (!server_) return;
  server_->drain();
  for (const std::string& refusal : server_->refusals()) tell_at_end(run, refusal);
  const bool has_run = !run.record().tests.empty() && !run.record().interrupted;
  if (has_run && !server_->has_joined()) {
    tell_at_end(run, "no rank has joined the world of MPI: none has called MPI_Init of an MPI that can");
  }
  server_.reset();
}

}  // namespace distrun::cli
