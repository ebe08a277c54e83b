#include <distrun/runner/attempt/program.hpp>

#include <algorithm>
#include <cstdlib>

#include <distrun/common/base/free_port.hpp>
#include <distrun/runner/attempt/cpu_share.hpp>
#include <distrun/runner/attempt/script_note.hpp>

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

std::vector<std::string> common_variables(const Settings& settings, const std::string& run_id,
                                          const std::string& temp_dir) {
  const std::string size = std::to_string(settings.world_size);
  std::vector<std::string> variables{"WORLD_SIZE=" + size,
                                     "LOCAL_WORLD_SIZE=" + size,
                                     "GROUP_RANK=0",
                                     "MASTER_ADDR=127.0.0.1",
                                     "DISTRUN_RUN_ID=" + run_id,
                                     "DISTRUN_WORLD_SIZE=" + size,
                                     "DISTRUN_TEMP_DIR=" + temp_dir,
                                     "DISTRUN_THREADS=" + threads_each(cpus_for_ranks(), settings.world_size),
                                     "MASTER_PORT=" + std::to_string(base::find_free_port())};
  if (settings.private_tmp) variables.push_back("TMPDIR=/tmp");  // another directory may be invisible to the ranks
  // Python and Fortran buffer output to a pipe, so the last output of a hung or killed rank would be lost.
  for (const char* name : {"PYTHONUNBUFFERED", "GFORTRAN_UNBUFFERED_PRECONNECTED"}) {
    if (std::getenv(name) == nullptr) variables.push_back(std::string(name) + "=1");
  }
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

launch::ProgramSpec program_spec(const Settings& settings, const std::string& run_id, const std::string& temp_dir) {
  launch::ProgramSpec program;
  program.path = settings.program_path;
  program.arguments = settings.program;
  program.stdin_rank = settings.stdin_rank;
  program.stdin_fd = settings.stdin_fd;
  const std::vector<std::string> common = common_variables(settings, run_id, temp_dir);
  for (int rank = 0; rank < settings.world_size; ++rank) {
    std::vector<std::string>& own = program.variables.emplace_back(common);
    const std::string number = std::to_string(rank);
    for (const char* name : {"RANK=", "LOCAL_RANK=", "DISTRUN_RANK="}) own.push_back(name + number);
    for (const wire::KeyValue& pair : settings.env) own.push_back(pair.key + "=" + pair.value);
  }
  return program;
}

}  // namespace distrun::runner
