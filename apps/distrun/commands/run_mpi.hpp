#pragma once
// The world of MPI of a run of programs: whether there is one, its server, and what the user has to know about it.
// Lives on: the coordinator's loop.
#include <memory>
#include <optional>
#include <string>

#include <distrun/runner/mpi/worlds.hpp>
#include <distrun/runner/run/run.hpp>

#include "coordinator.hpp"
#include "options/options.hpp"

namespace distrun::cli {

// Throws Error{InvalidArgument} if --mpi on cannot be satisfied.
void check_mpi(const runner::Settings& settings);

class RunMpi {
 public:
  // Starts the server if the program needs one. `main` and `events` must outlive this. Throws Error{Failed} if it
  // cannot be started.
  RunMpi(CoordinatorLoop& main, const RunOptions& options, const proc::RunPlaces& places, runner::EventSink& events);

  // Waits until the server is ready, and gives it to the run. Returns false if it has failed, which is a problem of the
  // run.
  io::Task<bool> assemble(runner::Run& run);
  // The ranks have ended: adds what the server has seen to the record, and ends it.
  void end(runner::Run& run);

 private:
  void tell(runner::Run& run, const std::string& notice);
  void tell_at_end(runner::Run& run, const std::string& notice);

  runner::EventSink& events_;
  const bool is_verbose_;
  std::string why_none_;  // a sentence for the user; empty: nothing is to be said
  std::optional<mpi::Worlds> worlds_;
  std::unique_ptr<mpi::World> world_;
};

}  // namespace distrun::cli
