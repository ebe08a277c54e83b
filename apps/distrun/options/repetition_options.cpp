#include "repetition_options.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>

#include <distrun/common/base/duration.hpp>
#include <distrun/common/base/rng.hpp>

#include "parsing.hpp"
#include "raw_options.hpp"

namespace distrun::cli {
namespace {

constexpr int kRepeatMax = 1'000'000;
constexpr char kOrders[] = "declared|failed-first";
constexpr char kFlaky[] = "pass|fail";
constexpr char kLoads[] = "cpu|memory|pause|none";
constexpr char kRetried[] = "fail|crash|timeout|deadlock|leak|infra-error";

// "true" is --until-fail without a value; "false" overrides a settings file.
int parse_until_fail(const Raw& raw) {
  constexpr int kDefault = 1000;
  if (raw.until_fail == "false") return 0;
  if (raw.until_fail != "true") return number("--until-fail", raw.until_fail, 1, kRepeatMax);
  const std::string next = raw.plugins.empty() ? "" : raw.plugins.front();
  const bool is_number = !next.empty() && next.find_first_not_of("0123456789") == next.npos;
  if (is_number) refuse("--until-fail " + next + ": write MAX with =, as in --until-fail=" + next);
  return kDefault;
}

std::vector<std::string> each_of(const char* option, const std::string& list, const char* words) {
  std::vector<std::string> found;
  for (std::size_t at = 0; at < list.size();) {
    const std::size_t end = std::min(list.find(',', at), list.size());
    found.push_back(one_of(option, list.substr(at, end - at), words));
    at = end + 1;
  }
  return found;
}

bool runs_again(const runner::Settings& settings) {
  return settings.repeat > 1 || settings.retries > 0 || settings.until_fail > 0;
}

void add_stress_settings(const Raw& raw, runner::Settings& settings) {
  settings.stress_load = each_of("--stress-load", raw.stress_load, kLoads);
  std::erase(settings.stress_load, "none");
  if (raw.stress.empty()) return;
  settings.stress = base::parse_duration("--stress", raw.stress);
  if (runs_again(settings) || settings.debug_rank >= 0 || !raw.trace.empty()) {
    refuse("--stress cannot be combined with --repeat, --until-fail, --retries, --debug or --trace; leave these out");
  }
}

}  // namespace

void add_repetition_options(CLI::App& app, Raw& raw) {
  begin_group(app, "Order and repetition");
  app.add_option("--order", raw.order,
                 "Order of tests: declared: as in the plugins; failed-first: tests that did not pass last time, then "
                 "the longest, according to the history")
      ->type_name(kOrders);
  app.add_flag("--shuffle", raw.shuffle,
               "Run tests in random order, given by the seed; tests of a plugin stay together");
  app.add_option("--seed", raw.seed, "Seed of the tests' random numbers and of --shuffle (default: a new one, printed)")
      ->type_name("N");
  app.add_option("--repeat", raw.repeat, "Run every test N times; each must pass")->type_name("N");
  app.add_flag("--until-fail", raw.until_fail,
               "Run every test until it does not pass, at most MAX times (default 1000)")
      ->type_name("[=MAX]");
  app.add_option(
         "--stress", raw.stress,
         "Run the tests again and again for TIME, --jobs at a time, several copies of a test if there are fewer "
         "tests than jobs; then say how often each one failed, and how")
      ->type_name("TIME");
  app.add_option(
         "--stress-load", raw.stress_load,
         "Load during --stress, in turn: cpu: busy threads; memory: threads that write memory; pause: ranks that "
         "are stopped for some milliseconds; none")
      ->type_name("KIND,...");
  app.add_option("--retries", raw.retries, "Retry a failed test up to N times; if it passes then, it is flaky")
      ->type_name("N");
  app.add_option("--retry-on", raw.retry_on,
                 "With --retries, retry only after these verdicts, such as fail,crash (default: every failure)")
      ->type_name("VERDICT,...");
  app.add_option("--flaky", raw.flaky, "Whether a flaky test lets the run exit with 0, or with 1")->type_name(kFlaky);
  app.add_flag("--fail-fast", raw.fail_fast, "End the run after the first test that fails");
  app.add_option(
         "--rerun-failed", raw.rerun_failed,
         "Run the tests that did not pass in this summary, with its plugins, seed and settings unless given here")
      ->type_name("SUMMARY.json");
  app.add_flag("--skips-pass", raw.skips_pass, "Exit with 0 if every test was skipped");
}

void add_repetition_settings(const Raw& raw, runner::Settings& settings) {
  settings.repeat = number("--repeat", raw.repeat, 1, kRepeatMax);
  settings.retries = number("--retries", raw.retries, 0, kRetriesMax);
  if (!raw.until_fail.empty()) settings.until_fail = parse_until_fail(raw);
  settings.retry_on = each_of("--retry-on", raw.retry_on, kRetried);
  const bool may_retry = settings.retries > 0 || !settings.overrides.empty();
  if (!settings.retry_on.empty() && !may_retry) refuse("--retry-on needs --retries; add --retries 1");
  settings.flaky_fails = one_of("--flaky", raw.flaky, kFlaky) == "fail";
  settings.fail_fast = raw.fail_fast;
  settings.shuffle = raw.shuffle;
  settings.seed = raw.seed.empty() ? base::random_seed() >> 32  // short enough to type
                                   : number<std::uint64_t>("--seed", raw.seed, 0, UINT64_MAX);
  if (settings.debug_rank >= 0 && runs_again(settings)) {
    refuse("--debug cannot be combined with --repeat, --until-fail or --retries; leave these out");
  }
  if (settings.until_fail > 0 && settings.repeat > 1) {
    refuse("--until-fail cannot be combined with --repeat; leave --repeat out, or write --until-fail=" + raw.repeat);
  }
  if (settings.until_fail > 0 && settings.retries > 0) {
    refuse("--until-fail cannot be combined with --retries, which would hide the failure; leave --retries out");
  }
  add_stress_settings(raw, settings);
}

TestOrder order_of(const Raw& raw) {
  if (one_of("--order", raw.order, kOrders) == "declared") return TestOrder::Declared;
  if (raw.shuffle) refuse("--order failed-first cannot be combined with --shuffle; leave one of them out");
  return TestOrder::FailedFirst;
}

}  // namespace distrun::cli
