// distrun list: the plugins' tests, as text or as JSON.
#include <cstdio>
#include <utility>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/rng.hpp>
#include <distrun/common/base/text.hpp>
#include <distrun/runner/attempt/bounds.hpp>
#include <distrun/runner/plan/plan.hpp>
#include <distrun/runner/plan/selection.hpp>
#include <distrun/runner/report/files/whole_file.hpp>
#include <distrun/runner/report/json/json_parts.hpp>
#include <distrun/runner/report/text/repeat_command.hpp>
#include <distrun/runner/report/text/test_line.hpp>

#include "cmake_tests.hpp"
#include "commands.hpp"
#include "coordinator.hpp"
#include "exit_codes.hpp"
#include "guarded.hpp"

namespace distrun::cli {
namespace {

struct Listing {
  std::vector<runner::PlannedTest> tests;
  std::vector<std::string> problems;
  std::string filter_hint;  // if the filter selects nothing
  bool stopped = false;
};

io::Task<void> list_all(launch::Node& node, const runner::Settings& settings, Listing& listing) {
  const runner::Filter filter(settings.filters);
  std::vector<std::string> all_ids;
  for (const std::string& plugin : settings.plugins) {
    if (listing.stopped) break;
    try {
      wire::PluginTable table = co_await runner::list_tests(node, plugin, settings, runner::load_bound(settings));
      for (const wire::TestInfo& test : table.tests) all_ids.push_back(test.id());
      std::vector<runner::PlannedTest> planned = runner::plan(plugin, std::move(table), filter, settings);
      std::move(planned.begin(), planned.end(), std::back_inserter(listing.tests));
    } catch (const Error& error) {
      listing.problems.emplace_back(error.what());
    }
  }
  if (listing.tests.empty()) listing.filter_hint = filter.hint(all_ids);
}

// Does not warn about an empty shard, or if a plugin could not be loaded, which is reported instead.
void warn_of_no_match(const Listing& listing, const std::vector<std::string>& filters) {
  if (filters.empty() || !listing.tests.empty() || !listing.problems.empty()) return;
  std::string patterns;
  for (const std::string& filter : filters) patterns += (patterns.empty() ? "" : " ") + filter;
  std::fprintf(stderr, "distrun: no test matches --filter %s%s\n", base::one_line(patterns).c_str(),
               base::one_line(listing.filter_hint).c_str());
}

// An empty shard is a success, as for `distrun run`.
void tell_empty_shard(const runner::Shard& shard, int selected) {
  std::fprintf(stderr, "distrun: %s is empty\n", report::shard_text(shard, selected).c_str());
}

void write_skip(report::JsonWriter& out, const wire::SkipReport& skip) {
  out.begin_object();
  out.field("code", skip.code);
  out.field("reason", skip.reason);
  out.end_object();
}

void write_test(report::JsonWriter& out, const runner::PlannedTest& test) {
  const wire::TestInfo& info = test.info;
  out.begin_object();
  out.field("id", test.id);
  out.field("suite", info.suite);
  out.field("name", info.name);
  out.field_if(!info.description.empty(), "description", info.description);
  out.field("plugin", test.plugin);
  out.key("parameters");
  report::write_parameters(out, info.parameters);
  out.field("file", info.file);
  out.field("line", info.line);
  out.field("world_rule", wire::name_of(info.world_rule));
  report::write_array(out, "world_sizes", info.world_sizes);
  out.field("world_size", info.world_size);
  out.field_if(info.timeout_ms > 0, "timeout_ms", info.timeout_ms);
  out.field_if(!info.isolation.empty(), "isolation", info.isolation);
  out.field("env_rendezvous", info.env_rendezvous);
  out.field_if(info.needs_mpi, "needs_mpi", info.needs_mpi);
  report::write_array(out, "tags", info.tags);
  report::write_array(out, "locks", info.locks);
  out.key("skip");
  test.skipped() ? write_skip(out, info.skip.front()) : out.null();
  out.end_object();
}

void print_json(const Listing& listing) {
  report::JsonWriter out(report::JsonWriter::Layout::Pretty);
  out.begin_object();
  out.field("schema", "distrun.list/1");
  out.key("tests");
  out.begin_array();
  for (const runner::PlannedTest& test : listing.tests) write_test(out, test);
  out.end_array();
  report::write_array(out, "problems", listing.problems);
  out.end_object();
  std::printf("%s\n", out.text().c_str());
}

// A description from another framework shows the tags already.
std::string labels_of(const wire::TestInfo& test) {
  if (!test.description.empty()) return "  " + base::one_line(test.description, 400);
  std::string text;
  for (const std::string& tag : test.tags) text += "  " + base::one_line(tag);
  return text;
}

void print_problems(const Listing& listing) {
  for (const std::string& problem : listing.problems) {
    std::fprintf(stderr, "distrun: %s\n", base::printable(problem).c_str());
  }
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
    std::printf("%s%s\n", line.c_str(), labels_of(test.info).c_str());
  }
  std::fflush(stdout);
  print_problems(listing);
}

// Prints, for completion, a --filter for each test that selects only that test.
void print_patterns(const Listing& listing, const std::string& before) {
  for (const runner::PlannedTest& test : listing.tests) {
    std::printf("%s%s\n", before.c_str(), report::filter_for(test.id).c_str());
  }
}

void write_cmake(const Listing& listing, const std::string& file) {
  print_problems(listing);
  if (listing.problems.empty()) report::write_whole_file(file, cmake_calls(listing.tests));
}

void print(const Listing& listing, const ListOptions& options) {
  switch (options.form) {
    case ListForm::Text: return print_text(listing);
    case ListForm::Json: return print_json(listing);
    case ListForm::Patterns: return print_patterns(listing, options.before);
    case ListForm::Cmake: return write_cmake(listing, options.file);
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
  if (options.form != ListForm::Patterns) warn_of_no_match(listing, options.settings.filters);
  const int selected = static_cast<int>(listing.tests.size());
  listing.tests = runner::shard_of(std::move(listing.tests), options.settings.shard);
  print(listing, options);
  if (!listing.problems.empty()) return kInfraError;
  if (options.form == ListForm::Cmake) return kSuccess;  // a plugin may have no tests
  if (listing.tests.empty() && selected != 0) return tell_empty_shard(options.settings.shard, selected), kSuccess;
  return listing.tests.empty() ? kNothingRan : kSuccess;
}

}  // namespace

int list(const ListOptions& options) {
  const proc::RunPlaces places = proc::RunPlaces::here(base::random_hex(12));
  return guarded(places,
                 [&](proc::Coordinator coordinator) { return coordinate(options, places, std::move(coordinator)); });
}

}  // namespace distrun::cli
