#include <distrun/runner/nodes/allocation.hpp>

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/text.hpp>

namespace distrun::nodes {
namespace {

constexpr char kTasksName[] = "SLURM_TASKS_PER_NODE";

[[noreturn]] void refuse_tasks(const std::string& text, const std::string& why) {
  throw Error(ErrorKind::InvalidArgument, std::string(kTasksName) + " " + base::one_line(text) + ": " + why +
                                              "; expected a list like 2(x3),1 with a number for each host; name the " +
                                              "hosts with --hosts instead");
}

// Reads "2" or "2(x3)" and appends the number as often as it says.
void append_tasks(const std::string& text, std::string_view entry, std::size_t count, std::vector<int>& tasks) {
  const char* const end = entry.data() + entry.size();
  int value = 0;
  std::size_t times = 1;
  auto [at, error] = std::from_chars(entry.data(), end, value);
  bool is_right = error == std::errc{} && value > 0;
  if (is_right && at != end) {
    is_right = end - at > 3 && std::string_view(at, 2) == "(x" && end[-1] == ')';
    if (is_right) {
      const auto [last, wrong] = std::from_chars(at + 2, end - 1, times);
      is_right = wrong == std::errc{} && last == end - 1;
    }
  }
  if (!is_right) refuse_tasks(text, "\"" + base::one_line(entry, 40) + "\" is not a number of tasks");
  if (times > count - tasks.size()) {
    refuse_tasks(text, "it has more numbers than the job has hosts (" + std::to_string(count) + ")");
  }
  tasks.insert(tasks.end(), times, value);
}

// Returns a number for each of `count` hosts.
std::vector<int> tasks_of(const std::string& text, std::size_t count) {
  std::vector<int> tasks;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    append_tasks(text, std::string_view(text).substr(at, comma - at), count, tasks);
    at = comma + 1;
  }
  if (tasks.size() != count) {
    refuse_tasks(text,
                 "it has numbers for " + std::to_string(tasks.size()) + " of " + std::to_string(count) + " hosts");
  }
  return tasks;
}

// Returns the first of two variables that is set, by its name.
const char* either(const Variables& variables, const char* first, const char* second) {
  return variables(first).empty() ? second : first;
}

}  // namespace

std::string variable_of_process(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::optional<Allocation> find_allocation(const Variables& variables) {
  const char* const job = either(variables, "SLURM_JOB_ID", "SLURM_JOBID");
  const char* const list = either(variables, "SLURM_JOB_NODELIST", "SLURM_NODELIST");
  if (variables(job).empty() || variables(list).empty()) return std::nullopt;
  Allocation allocation;
  allocation.job = variables(job);
  for (std::string& name : expand_hosts(list, variables(list))) allocation.hosts.push_back({std::move(name), 0});
  // Without a number of tasks in the order, Slurm fills in one that the user has not asked for.
  const std::string tasks = variables(kTasksName);
  if (!tasks.empty() && !variables("SLURM_NTASKS").empty()) {
    const std::vector<int> numbers = tasks_of(tasks, allocation.hosts.size());
    for (std::size_t i = 0; i < numbers.size(); ++i) allocation.hosts[i].ranks = numbers[i];
  }
  const std::string step = variables("SLURM_STEP_NUM_TASKS");
  allocation.is_one_of_many = !step.empty() && step != "1";
  return allocation;
}

bool is_in_job(const Variables& variables) {
  return !variables(either(variables, "SLURM_JOB_ID", "SLURM_JOBID")).empty();
}

std::optional<int> cpus_of_step(const Variables& variables) {
  const std::string text = variables("SLURM_CPUS_ON_NODE");
  int cpus = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), cpus);
  if (error != std::errc{} || end != text.data() + text.size() || cpus < 1) return std::nullopt;
  return cpus;
}

bool is_engine_variable(std::string_view name) noexcept {
  if (name == "SLURM_CONF") return false;  // where Slurm's configuration is; says nothing of a job
  for (const std::string_view prefix : {"SLURM_", "SLURMD_", "SRUN_", "PMI_", "PMI2_", "PMIX_"}) {
    if (name.starts_with(prefix)) return true;
  }
  return false;
}

}  // namespace distrun::nodes
