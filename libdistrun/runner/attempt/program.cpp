#include <distrun/runner/attempt/program.hpp>

#include <algorithm>

#include <distrun/common/base/free_port.hpp>
#include <distrun/runner/attempt/cpu_share.hpp>
#include <distrun/runner/attempt/script_note.hpp>
#include <distrun/runner/proc/environment.hpp>

namespace distrun::runner {
namespace {

constexpr std::size_t kNameMax = 100;

bool may_stand_in_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// Turns "./train-2.py" into train_2_py.
std::string name_of_file(const std::string& path) {
  std::string name = path.substr(path.find_last_of('/') + 1).substr(0, kNameMax);
  std::replace_if(
      name.begin(), name.end(), [](char c) { return !may_stand_in_name(c); }, '_');
  return name.empty() ? "program" : name;
}

// The script of an interpreter makes a better name.
std::string name_of_program(const Settings& settings) {
  if (!settings.program_name.empty()) return settings.program_name;
  const std::string& path = settings.program_path;
  const auto script = find_script(path.substr(path.find_last_of('/') + 1), settings.program);
  return name_of_file(script ? *script : path);
}

std::vector<std::string> common_variables(const launch::ProgramSpec& program, const ProgramPlace& place) {
  const std::string size = std::to_string(place.world_size);
  std::vector<std::string> variables{"WORLD_SIZE=" + size,
                                     "LOCAL_WORLD_SIZE=" + std::to_string(place.ranks_here),
                                     "GROUP_RANK=" + std::to_string(place.host),
                                     "MASTER_ADDR=" + place.master_address,
                                     "MASTER_PORT=" + std::to_string(place.master_port),
                                     "DISTRUN_RUN_ID=" + place.run_id,
                                     "DISTRUN_WORLD_SIZE=" + size,
                                     "DISTRUN_TEMP_DIR=" + place.temp_dir};
  if (!place.hosts.empty()) {
    variables.push_back("DISTRUN_HOSTS=" + place.hosts);
    variables.push_back("DISTRUN_HOST_ADDRESS=" + place.host_address);
  }
  const auto add_default = [&](const char* name, const std::string& value) {
    if (proc::find_variable(program.environment, name) == nullptr) variables.push_back(name + ("=" + value));
  };
  add_default("DISTRUN_THREADS", threads_each(place.cpus, place.ranks_here));
  // Python and Fortran buffer output to a pipe, so the last output of a hung or killed rank would be lost.
  for (const char* name : {"PYTHONUNBUFFERED", "GFORTRAN_UNBUFFERED_PRECONNECTED"}) add_default(name, "1");
  return variables;
}

}  // namespace

PlannedTest plan_program(const Settings& settings) {
  PlannedTest test;
  test.info.suite = "exec";
  test.info.name = name_of_program(settings);
  test.info.world_size = settings.world_size;
  test.id = test.info.id();
  test.plugin = settings.program_path;
  test.variant.world_size = settings.world_size;
  test.variant.isolation = Isolation::Program;
  return test;
}

void set_place(launch::ProgramSpec& program, const ProgramPlace& place) {
  const std::vector<std::string> common = common_variables(program, place);
  program.variables.assign(static_cast<std::size_t>(place.ranks_here), common);
  for (int local = 0; local < place.ranks_here; ++local) {
    std::vector<std::string>& own = program.variables[static_cast<std::size_t>(local)];
    const std::string rank = std::to_string(place.first_rank + local);
    own.push_back("RANK=" + rank);
    own.push_back("DISTRUN_RANK=" + rank);
    own.push_back("LOCAL_RANK=" + std::to_string(local));
  }
}

void bind(launch::ProgramSpec& program, const LaneCpus& cpus) {
  const int ranks = static_cast<int>(program.variables.size());
  const int count = cpus.count(ranks);
  for (int local = 0; local < ranks; ++local) {
    program.cpus.push_back(cpus.of(local, ranks));
    if (count == 0) continue;
    std::vector<std::string>& variables = program.variables[static_cast<std::size_t>(local)];
    variables.insert(variables.begin(), std::string(kCpusVariable) + "=" + std::to_string(count));
  }
}

void use_private_tmp(launch::ProgramSpec& program) {
  for (std::vector<std::string>& variables : program.variables) variables.emplace_back("TMPDIR=/tmp");
}

launch::ProgramSpec program_spec(const Settings& settings) {
  launch::ProgramSpec program;
  program.path = settings.program_path;
  program.arguments = settings.program;
  program.environment = proc::own_environment();
  program.keep_output = settings.keep_output;
  program.stdin_rank = settings.stdin_rank;
  program.stdin_fd = settings.stdin_fd;
  for (const wire::KeyValue& pair : settings.env) program.overrides.push_back(pair.key + "=" + pair.value);
  return program;
}

launch::ProgramSpec local_program_spec(const Settings& settings, const std::string& run_id,
                                       const std::string& temp_dir) {
  launch::ProgramSpec program = program_spec(settings);
  ProgramPlace place;
  place.run_id = run_id;
  place.temp_dir = temp_dir;
  place.master_port = base::find_free_port();
  place.world_size = place.ranks_here = settings.world_size;
  place.cpus = cpus_for_ranks();
  set_place(program, place);
  if (settings.private_tmp) use_private_tmp(program);
  return program;
}

}  // namespace distrun::runner
