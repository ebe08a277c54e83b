#include "history_json.hpp"

#include <nlohmann/json.hpp>

namespace distrun::cli {
namespace {

using Json = nlohmann::ordered_json;

double ms_of(base::Nanoseconds duration) { return static_cast<double>(duration.count()) / 1e6; }

std::string time_of(std::int64_t at_ms) { return base::iso8601(at_ms * 1'000'000); }

std::string text_of(Json tests_or_results, const char* name) {
  Json json;
  json["schema"] = "distrun.history/1";
  json[name] = std::move(tests_or_results);
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Json json_of(const history::TestLine& line) {
  const history::Statistics& statistics = line.statistics;
  const bool judged = statistics.window > 0;
  Json json;
  json["id"] = line.id;
  json["project"] = line.project;
  json["plugin"] = line.plugin;
  json["verdict"] = name_of(line.verdict);
  json["started"] = time_of(line.at_ms);
  json["results"] = statistics.results;
  json["fails_now"] = statistics.fails_now();
  json["window"] = statistics.window;
  json["passed"] = statistics.passed;
  json["flakiness"] = statistics.flakiness;
  json["median_ms"] = judged ? Json(ms_of(statistics.median)) : Json(nullptr);
  json["p95_ms"] = judged ? Json(ms_of(statistics.p95)) : Json(nullptr);
  json["p99_ms"] = judged ? Json(ms_of(statistics.p99)) : Json(nullptr);
  json["suggested_timeout_ms"] = statistics.timed < history::kEnoughToSuggest
                                     ? Json(nullptr)
                                     : Json(ms_of(history::suggested_timeout(statistics.p99)));
  return json;
}

Json json_of(const history::Result& result) {
  Json json;
  json["id"] = result.test;
  json["project"] = result.project;
  json["plugin"] = result.plugin;
  json["run_id"] = result.run_id;
  json["started"] = time_of(result.at_ms);
  json["verdict"] = name_of(result.verdict);
  json["message"] = result.message;
  json["duration_ms"] = ms_of(result.duration);
  json["attempts"] = result.attempts;
  json["variant"] = {{"world_size", result.variant.world_size},
                     {"backend", result.variant.backend},
                     {"agent", result.variant.agent},
                     {"isolation", result.variant.isolation}};
  return json;
}

}  // namespace

std::string table_json(const std::vector<history::TestLine>& lines, std::size_t limit) {
  Json tests = Json::array();
  for (const history::TestLine& line : lines) {
    if (limit > 0 && tests.size() == limit) break;
    tests.push_back(json_of(line));
  }
  return text_of(std::move(tests), "tests");
}

std::string results_json(const std::vector<history::Result>& results) {
  Json list = Json::array();
  for (const history::Result& result : results) list.push_back(json_of(result));
  return text_of(std::move(list), "results");
}

}  // namespace distrun::cli
