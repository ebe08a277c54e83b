#include <distrun/runner/mpi/worlds.hpp>

#include <sys/stat.h>

#include <utility>

#include <distrun/common/base/directories.hpp>
#include <distrun/common/base/error.hpp>
#include <distrun/runner/proc/child.hpp>
#include <distrun/runner/proc/environment.hpp>
#include <distrun/runner/proc/program.hpp>

namespace distrun::mpi {
namespace {

constexpr char kServer[] = "distrun-pmix";

}  // namespace

World::World(io::Loop& loop, const Server::Program& program, const wire::MpiOrder& order)
    : directory_(order.directory), shared_(order.shared), server_(std::make_unique<Server>(loop, program, order)) {}

// What cannot be removed now is removed with the run's files.
World::~World() {
  server_.reset();
  (void)proc::remove_tree(shared_);
  (void)proc::remove_tree(directory_);
}

Worlds::Worlds(io::Loop& loop, launch::Node& node, proc::RunPlaces places)
    : loop_(loop), node_(node), places_(std::move(places)) {
  (void)::mkdir(shared_directory("").c_str(), 0700);
}

std::string Worlds::why_none() {
  try {
    (void)proc::program_beside(kServer);
    return "";
  } catch (const Error&) {
    return std::string(kServer) +
           " is not there (install distrun-mpi, or build distrun where libpmix-dev is installed)";
  }
}

std::string Worlds::make_directory(const std::string& name) const {
  const std::string directory = places_.run_dir() + "/mpi/" + name;
  base::make_directories(directory);
  return directory;
}

// The run's id in the name makes the end of the run remove what ranks that were killed have left in it.
std::string Worlds::shared_directory(const std::string& name) const {
  const std::string all = "/dev/shm/distrun-" + places_.run_id + "-mpi";
  return name.empty() ? all : all + "/" + name;
}

// On a machine without /dev/shm, ranks share the run's directory.
std::unique_ptr<World> Worlds::start(const Needs& needs) {
  const std::string name = std::to_string(++started_);
  wire::MpiOrder order;
  order.world = "distrun-" + places_.run_id + "-" + name;
  order.ranks = needs.ranks;
  order.directory = make_directory(name);
  order.shared = shared_directory(name);
  if (needs.has_private_shm || ::mkdir(order.shared.c_str(), 0700) != 0) order.shared = order.directory;
  order.host = proc::host_name();
  order.crowded = needs.is_crowded;
  order.may_spawn = needs.may_spawn;
  auto world = std::make_unique<World>(
      loop_, Server::Program{proc::program_beside(kServer), proc::inherited_environment()}, order);
  node_.spare(world->server().pid());
  return world;
}

}  // namespace distrun::mpi
