#include "watch_options.hpp"

#include <CLI/CLI.hpp>

#include "parsing.hpp"

namespace distrun::cli {
namespace {

using base::Nanoseconds;

constexpr char kPolicies[] = "verdict|report|off";

}  // namespace

void add_watch_options(CLI::App& app, Raw& raw) {
  app.add_option(
         "--deadlock", raw.deadlock,
         "When it is proven that ranks can never continue: end them at once with the verdict deadlock; report it "
         "and wait for the timeout; or do not look for it")
      ->type_name(kPolicies);
  app.add_option("--suspect-after", raw.suspect_after,
                 "When ranks have made no progress for TIME, say in a line what they wait for; again after twice the "
                 "time; 0: never")
      ->type_name("TIME");
}

void add_watch_settings(const Raw& raw, runner::Settings& settings) {
  const std::string policy = one_of("--deadlock", raw.deadlock, kPolicies);
  settings.deadlock = policy == "off"      ? runner::DeadlockPolicy::Off
                      : policy == "report" ? runner::DeadlockPolicy::Report
                                           : runner::DeadlockPolicy::Verdict;
  settings.suspect_after = time_or_never("--suspect-after", raw.suspect_after);
}

}  // namespace distrun::cli
