#pragma once
// The settings and services that all attempts of a run share.
#include <string>

#include <distrun/common/io/loop.hpp>
#include <distrun/runner/attempt/bounds.hpp>
#include <distrun/runner/attempt/output_gate.hpp>
#include <distrun/runner/launch/node.hpp>
#include <distrun/runner/record/events.hpp>
#include <distrun/runner/record/trace_sink.hpp>

namespace distrun::mpi {
class Server;  // runner/mpi/server.hpp
class Worlds;  // runner/mpi/worlds.hpp
}  // namespace distrun::mpi

namespace distrun::runner {

class NameWatch;    // test_resources.hpp
class PrivateTmps;  // private_tmp.hpp
class WorkDirPool;  // work_dirs.hpp

// Everything here must outlive the attempts.
struct RunContext {
  io::Loop& loop;
  launch::Node& node;
  EventSink& events;
  NameWatch& names;
  const Settings& settings;
  WorkDirPool& dirs;
  std::string run_id;
  Graces graces{};
  OutputSink* output = nullptr;         // shows what ranks write; null: not shown
  PrivateTmps* private_tmps = nullptr;  // creates private directories for ranks on this machine; null: they have none
  TraceSink* traces = nullptr;          // takes the ranks' traces; null: nothing is traced
  mpi::Server* mpi = nullptr;           // gives programs a world of MPI, and is ready; null: they have none
  mpi::Worlds* mpi_worlds = nullptr;    // creates worlds of MPI for attempts of tests; null: none needs any
  std::string why_stopped{};            // why attempts are cancelled; empty: the user wants it
};

}  // namespace distrun::runner
