#include <distrun/runner/nodes/hosted_program.hpp>

#include <distrun/runner/proc/environment.hpp>
#include <distrun/runner/proc/find_program.hpp>

namespace distrun::nodes {

launch::ProgramSpec find_program(const ProgramOrder& order, const std::vector<std::string>& host_variables) {
  launch::ProgramSpec program;
  program.arguments = order.arguments;
  program.environment = proc::merged({&order.environment, &host_variables});
  program.overrides = order.overrides;
  const proc::Variables all = proc::merged({&program.environment, &program.overrides});
  const char* const path = proc::find_variable(all, "PATH");
  program.path = proc::find_program(order.arguments.front(), path == nullptr ? proc::kUsualPath : path);
  return program;
}

runner::ProgramPlace place_of(const SpawnRequest& request, const BeginOrder& begin) {
  runner::ProgramPlace place;
  place.master_address = request.program->master_address;
  place.master_port = begin.master_port;
  place.world_size = request.world_size;
  place.first_rank = request.first_rank;
  place.ranks_here = request.ranks_here;
  place.host = request.program->host;
  place.hosts = request.hosts;
  return place;
}

}  // namespace distrun::nodes
