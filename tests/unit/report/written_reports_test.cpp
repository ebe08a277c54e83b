#include <catch2/catch.hpp>

#include <cstdlib>

#include <distrun/report/event_stream.hpp>
#include <distrun/report/junit.hpp>
#include <distrun/report/summary.hpp>
#include <distrun/report/whole_file.hpp>

#include "samples.hpp"

using namespace distrun::report;
using namespace distrun::report::samples;

// For scripts/validate-reports, which knows the schemas: a report of each kind of a run in which
// everything happens, in the directory DISTRUN_REPORT_DIR.
TEST_CASE("reports of every kind are written for validation", "[.][written-reports]") {
  const char* directory = std::getenv("DISTRUN_REPORT_DIR");
  REQUIRE(directory != nullptr);
  const std::string prefix = std::string(directory) + "/";
  write_whole_file(prefix + "summary.json", summary_json(full_run()));
  write_whole_file(prefix + "empty-summary.json", summary_json(empty_run()));
  write_whole_file(prefix + "junit.xml", junit_xml(full_run()));
  write_whole_file(prefix + "empty-junit.xml", junit_xml(empty_run()));
  EventStream stream(prefix + "events.ndjson", distrun::base::system_clock());
  replay(full_run(), stream);
  CHECK(stream.error().empty());
}
