#include <distrun/runner/nodes/messages.hpp>

#include <algorithm>

#include <distrun/common/base/error.hpp>
#include <distrun/common/trace/layout.hpp>

namespace distrun::nodes {
namespace {

constexpr std::int32_t kRanksMax = 1 << 20;

void demand(bool is_good, const char* what) {
  if (!is_good) throw Error(ErrorKind::InvalidArgument, what);
}

// The kernel would take what is before a zero byte.
bool is_c_string(const std::string& text) { return text.find('\0') == std::string::npos; }

bool is_variable(const std::string& text) {
  const std::size_t equals = text.find('=');
  return is_c_string(text) && equals != std::string::npos && equals > 0;
}

bool are_variables(const std::vector<std::string>& texts) {
  return std::all_of(texts.begin(), texts.end(), is_variable);
}

}  // namespace

void check(const Welcome& run) {
  demand(run.jobs >= 1 && run.jobs <= kJobsMax, "an impossible number of jobs");
  demand(run.bind <= runner::Bind::Numa, "an unknown way to bind ranks");
  demand(std::all_of(run.plugins.begin(), run.plugins.end(), is_c_string), "a plugin with an impossible path");
}

void check(const TestOfWorld& test) { demand(test.trace_records <= trace::kRecordsMax, "a trace of impossible size"); }

void check(const ProgramOrder& order) {
  demand(!order.arguments.empty() && std::all_of(order.arguments.begin(), order.arguments.end(), is_c_string),
         "a program with impossible arguments");
  demand(are_variables(order.environment) && are_variables(order.overrides), "a program with impossible variables");
  demand(is_c_string(order.master_address), "a program with an impossible address");
  demand(order.host >= 0, "a host with an impossible number");
}

void check(const SpawnRequest& request) {
  const bool is_program = request.isolation == Isolation::Program;
  demand(is_program || request.isolation == Isolation::Process || request.isolation == Isolation::Exec ||
             request.isolation == Isolation::Pool,
         "a node runs ranks as processes only");
  demand(is_program == request.program.has_value(), "a world is either that of a program or that of a plugin");
  demand(request.world_size > 0 && request.world_size <= kRanksMax && request.first_rank >= 0 &&
             request.ranks_here > 0 && request.ranks_here <= request.world_size - request.first_rank,
         "a world with impossible ranks");
  demand(request.lane >= -1 && request.lane < kJobsMax, "a world in an impossible lane");
  demand(is_c_string(request.hosts), "a world with impossible hosts");
  check(request.test);
  if (is_program) check(*request.program);
}

}  // namespace distrun::nodes
