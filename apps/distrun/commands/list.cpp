// distrun list: the plugins' tests, as text or as JSON.
#include <cstdio>
#include <nlohmann/json.hpp>
#include <utility>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/rng.hpp>
#include <distrun/common/base/text.hpp>
#include <distrun/runner/attempt/bounds.hpp>
#include <distrun/runner/plan/plan.hpp>
#include <distrun/runner/plan/selection.hpp>
#include <distrun/runner/report/text/repeat_command.hpp>

#include "commands.hpp"
#include "coordinator.hpp"
#include "exit_codes.hpp"
#include "guarded.hpp"

namespace distrun::cli {
namespace {

using Json = nlohmann::ordered_json;

struct Listing {
  std::vector<runner::PlannedTest> tests;
  std::vector<std::string> problems;
  bool stopped = false;
};

io::Task<void> list_all(launch::Node& node, const runner::Settings& settings, Listing& listing) {
  const runner::Filter filter(settings.filters);
  const wire::ListOrder order = runner::list_order(settings);
  for (const std::string& plugin : settings.plugins) {
    if (listing.stopped) break;
    try {
      wire::PluginTable table = co_await node.list(plugin, order, runner::load_bound(settings));
      std::vector<runner::PlannedTest> planned = runner::plan(plugin, std::move(table), filter, settings);
      std::move(planned.begin(), planned.end(), std::back_inserter(listing.tests));
    } catch (const Error& error) {
      listing.problems.emplace_back(error.what());
    }
  }
}

Json json_of(const runner::PlannedTest& test) {
  Json parameters = Json::object();
  for (const wire::KeyValue& parameter : test.info.parameters) parameters[parameter.key] = parameter.value;
  Json json;
  json["id"] = test.id;
  json["suite"] = test.info.suite;
  json["name"] = test.info.name;
  json["description"] = test.info.description.empty() ? Json(nullptr) : Json(test.info.description);
  json["plugin"] = test.plugin;
  json["parameters"] = std::move(parameters);
  json["file"] = test.info.file;
  json["line"] = test.info.line;
  json["world_rule"] = wire::name_of(test.info.world_rule);
  json["world_sizes"] = test.info.world_sizes;
  json["world_size"] = test.info.world_size;
  json["timeout_ms"] = test.info.timeout_ms > 0 ? Json(test.info.timeout_ms) : Json(nullptr);
  json["isolation"] = test.info.isolation.empty() ? Json(nullptr) : Json(test.info.isolation);
  json["env_rendezvous"] = test.info.env_rendezvous;
  json["skip"] = test.skipped() ? Json{{"code", test.info.skip.front().code}, {"reason", test.info.skip.front().reason}}
                                : Json(nullptr);
  return json;
}

void print_json(const Listing& listing) {
  Json json;
  json["schema"] = "distrun.list/1";
  json["tests"] = Json::array();
  for (const runner::PlannedTest& test : listing.tests) json["tests"].push_back(json_of(test));
  json["problems"] = listing.problems;
  const std::string text = json.dump(2, ' ', false, Json::error_handler_t::replace);
  std::printf("%s\n", text.c_str());
}

void print_text(const Listing& listing) {
  for (const runner::PlannedTest& test : listing.tests) {
    std::string line = base::one_line(test.id, 400);
    if (test.skipped()) {
      line += "  (skipped: " + base::one_line(test.info.skip.front().reason) + ")";
    } else {
      const int ranks = test.info.world_size;
      line += "  (" + std::to_string(ranks) + (ranks == 1 ? " rank)" : " ranks)");
    }
    if (!test.info.description.empty()) line += "  " + base::one_line(test.info.description, 400);
    std::printf("%s\n", line.c_str());
  }
  std::fflush(stdout);
  for (const std::string& problem : listing.problems) {
    std::fprintf(stderr, "distrun: %s\n", base::printable(problem).c_str());
  }
}

// For completion: what --filter selects each with, alone.
void print_patterns(const Listing& listing, const std::string& before) {
  for (const runner::PlannedTest& test : listing.tests) {
    std::printf("%s%s\n", before.c_str(), report::filter_for(test.id).c_str());
  }
}

void print(const Listing& listing, const ListOptions& options) {
  switch (options.form) {
    case ListForm::Text: return print_text(listing);
    case ListForm::Json: return print_json(listing);
    case ListForm::Patterns: return print_patterns(listing, options.before);
  }
}

int coordinate(const ListOptions& options, const proc::RunPlaces& places, proc::Coordinator coordinator) {
  CoordinatorLoop main(std::move(coordinator), places);
  Listing listing;
  main.on_stop([&](runner::Urgency) {
    listing.stopped = true;
    main.node().cancel();
  });
  main.run(list_all(main.node(), options.settings, listing));
  main.node().close();
  if (listing.stopped) return kInterrupted;
  listing.tests = runner::shard_of(std::move(listing.tests), options.settings.shard);
  print(listing, options);
  if (!listing.problems.empty()) return kInfraError;
  return listing.tests.empty() ? kNothingRan : kSuccess;
}

}  // namespace

int list(const ListOptions& options) {
  const proc::RunPlaces places = proc::RunPlaces::here(base::random_hex(12));
  return guarded(places, [&](proc::Coordinator coordinator) {
    return coordinate(options, places, std::move(coordinator));
  });
}

}  // namespace distrun::cli
