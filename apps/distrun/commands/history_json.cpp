#include "history_json.hpp"

#include <functional>

#include <distrun/runner/report/json/json_writer.hpp>

namespace distrun::cli {
namespace {

using report::JsonWriter;

std::string time_of(std::int64_t at_ms) { return base::iso8601(at_ms * 1'000'000); }

// Returns a document with one list of that name; `write_items` writes its items.
std::string text_of(const char* name, const std::function<void(JsonWriter&)>& write_items) {
  JsonWriter out(JsonWriter::Layout::Pretty);
  out.begin_object();
  out.field("schema", "distrun.history/1");
  out.key(name);
  out.begin_array();
  write_items(out);
  out.end_array();
  out.end_object();
  out.end_line();
  return out.take();
}

void write(JsonWriter& out, const history::TestLine& line) {
  const history::Statistics& statistics = line.statistics;
  const bool judged = statistics.window > 0;
  out.begin_object();
  out.field("id", line.id);
  out.field("project", line.project);
  out.field("plugin", line.plugin);
  out.field("verdict", name_of(line.verdict));
  out.field("started", time_of(line.at_ms));
  out.field("results", statistics.results);
  out.field("fails_now", statistics.fails_now());
  out.field("window", statistics.window);
  out.field("passed", statistics.passed);
  out.field("flakiness", statistics.flakiness);
  out.field_if(judged, "median_ms", statistics.median);
  out.field_if(judged, "p95_ms", statistics.p95);
  out.field_if(judged, "p99_ms", statistics.p99);
  out.field_if(statistics.timed >= history::kEnoughToSuggest, "suggested_timeout_ms",
               history::suggested_timeout(statistics.p99));
  out.end_object();
}

void write(JsonWriter& out, const history::Result& result) {
  out.begin_object();
  out.field("id", result.test);
  out.field("project", result.project);
  out.field("plugin", result.plugin);
  out.field("run_id", result.run_id);
  out.field("started", time_of(result.at_ms));
  out.field("verdict", name_of(result.verdict));
  out.field("message", result.message);
  out.field("duration_ms", result.duration);
  out.field("attempts", result.attempts);
  out.key("variant");
  out.begin_object();
  out.field("world_size", result.variant.world_size);
  out.field("backend", result.variant.backend);
  out.field("agent", result.variant.agent);
  out.field("isolation", name_of(result.variant.isolation));
  out.end_object();
  out.end_object();
}

}  // namespace

std::string table_json(const std::vector<history::TestLine>& lines, std::size_t limit) {
  return text_of("tests", [&](JsonWriter& out) {
    std::size_t count = 0;
    for (const history::TestLine& line : lines) {
      if (limit > 0 && count++ == limit) break;
      write(out, line);
    }
  });
}

std::string results_json(const std::vector<history::Result>& results) {
  return text_of("results", [&](JsonWriter& out) {
    for (const history::Result& result : results) write(out, result);
  });
}

}  // namespace distrun::cli
