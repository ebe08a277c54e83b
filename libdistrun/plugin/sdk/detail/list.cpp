#include <distrun/plugin/sdk/detail/list.hpp>

#include <cstddef>

#include <distrun/plugin/sdk/detail/decide.hpp>
#include <distrun/plugin/sdk/detail/failure.hpp>
#include <distrun/plugin/sdk/detail/string.hpp>
#include <distrun/plugin/sdk/detail/validate.hpp>

namespace distrun::detail {
namespace {

// A test to be listed: one row per element of its parameters.
struct Plan {
  const TestDeclaration* test;
  TestOptions options;
  std::vector<Parameters> elements;
  Decision decision;
  const SuiteFixtureDeclaration* suite_fixture;  // may be null
};

// An older distrun lacks this field.
std::string why_no_gpu(const distrun_list& list) {
  const bool says = list.size >= offsetof(distrun_list, why_no_gpu) + sizeof list.why_no_gpu;
  return says ? copy(list.why_no_gpu) : "";
}

ListContext context_of(const distrun_list& list) {
  return {.world_size = list.world_size,
          .backend = copy(list.backend),
          .agent = copy(list.agent),
          .gpu_driver = copy(list.gpu_driver),
          .gpus = list.gpus,
          .isolation = copy(list.isolation),
          .why_no_gpu = why_no_gpu(list)};
}

// Plans the test, or adds the reasons why it cannot be planned to the findings. Options and conditions are user code.
void plan_test(const Registry& registry, const TestDeclaration& test, const ListContext& run, std::vector<Plan>& plans,
               std::vector<std::string>& findings) {
  try {
    Plan plan{&test, registry.options_of(test), {}, {}, registry.find_suite_fixture(test.suite)};
    auto flaws = flaws_of_options(plan.options);
    if (test.bridged && !plan.options.parameters.empty()) {
      flaws.emplace_back("it has parameters from distrun although its framework also gives it some");
    }
    for (const std::string& flaw : flaws) findings.push_back(finding(test, flaw));
    if (!flaws.empty()) return;
    plan.elements = test.bridged ? std::vector<Parameters>{test.bridged->element} : plan.options.parameters.elements();
    plan.decision = decide(plan.options, run);
    plans.push_back(std::move(plan));
  } catch (...) {
    const Failure failure = current_failure();
    findings.push_back(finding(test, "its options: " + failure.type + ": " + failure.text));
  }
}

distrun_string isolation_of(const TestOptions& options) {
  return options.isolation ? lend(name_of(*options.isolation)) : distrun_string{};
}

std::int32_t devices_of(const Plan& plan) {
  const bool one_each = plan.options.world_size && plan.options.world_size->rule == WorldSize::Rule::Gpus;
  return one_each || plan.options.gpu_per_rank ? plan.decision.world_size : plan.options.devices;
}

// Lists that a row refers to.
struct RowLists {
  std::vector<std::int32_t> sizes;
  std::vector<distrun_may_die> deaths;
  std::vector<distrun_string> tags;
  std::vector<distrun_string> locks;
};

std::vector<distrun_string> lend_all(const std::vector<std::string>& texts) {
  std::vector<distrun_string> lent;
  for (const std::string& text : texts) lent.push_back(lend(text));
  return lent;
}

RowLists lists_of(const TestOptions& options) {
  const WorldSize world = options.world_size.value_or(WorldSize{});
  RowLists lists;
  lists.sizes.assign(world.sizes.begin(), world.sizes.end());
  for (const Death& death : options.may_die) lists.deaths.push_back({death.rank, death.how, death.value});
  lists.tags = lend_all(options.tags);
  lists.locks = lend_all(options.locks);
  return lists;
}

// Returns the row common to all elements, without parameters. Refers to the plan and the lists.
distrun_test row_of(const Plan& plan, const RowLists& lists) {
  const TestDeclaration& test = *plan.test;
  const Decision& decision = plan.decision;
  return {.size = sizeof(distrun_test),
          .abi = DISTRUN_ABI,
          .suite = lend(test.suite),
          .name = lend(test.name),
          .parameters = nullptr,
          .parameter_count = 0,
          .file = lend(test.where.file),
          .line = test.where.line,
          .world_rule = static_cast<std::int32_t>(plan.options.world_size.value_or(WorldSize{}).rule),
          .world_sizes = lists.sizes.data(),
          .world_size_count = lists.sizes.size(),
          .world_size = decision.world_size,
          .timeout_ms = plan.options.timeout.count(),
          .isolation = isolation_of(plan.options),
          .env_rendezvous = plan.options.env_rendezvous,
          .has_fixture = test.has_fixture || plan.suite_fixture != nullptr,
          .may_die = lists.deaths.data(),
          .may_die_count = lists.deaths.size(),
          .skip_code = decision.skip ? decision.skip->code : 0,
          .skip_reason = decision.skip ? lend(decision.skip->reason) : distrun_string{},
          .devices = devices_of(plan),
          .description = test.bridged ? lend(test.bridged->description) : distrun_string{},
          .has_host = plan.suite_fixture != nullptr && plan.suite_fixture->has_host,
          .has_suite_code = plan.suite_fixture != nullptr,
          .gpu_per_rank = plan.options.gpu_per_rank,
          .tags = lists.tags.data(),
          .tag_count = lists.tags.size(),
          .locks = lists.locks.data(),
          .lock_count = lists.locks.size(),
          .needs_mpi = plan.options.needs_mpi};
}

std::string lines(const std::vector<std::string>& texts) {
  std::string result;
  for (const std::string& text : texts) result += (result.empty() ? "" : "\n") + text;
  return result;
}

void add_rows(const Plan& plan, const distrun_list& list) {
  const RowLists lists = lists_of(plan.options);
  distrun_test row = row_of(plan, lists);
  for (const Parameters& element : plan.elements) {
    std::vector<distrun_key_value> parameters;
    for (const auto& [key, value] : element.entries()) {
      parameters.push_back({lend(key), lend(value)});
    }
    row.parameters = parameters.data();
    row.parameter_count = parameters.size();
    list.add(list.self, &row);
  }
}

}  // namespace

std::int32_t list_tests(const Registry& registry, const distrun_list& list) {
  const ListContext run = context_of(list);
  std::vector<std::string> findings = flaws_of_names(registry);
  std::vector<Plan> plans;
  for (const TestDeclaration& test : registry.tests()) {
    plan_test(registry, test, run, plans, findings);
  }
  if (!findings.empty()) {
    list.fail(list.self, lend(lines(findings)));
    return DISTRUN_INVALID;
  }
  for (const Plan& plan : plans) add_rows(plan, list);
  return DISTRUN_OK;
}

}  // namespace distrun::detail
