#include <catch2/catch.hpp>

#include <cstdlib>

#include <distrun/runner/report/files/whole_file.hpp>
#include <distrun/runner/report/json/ctrf.hpp>
#include <distrun/runner/report/json/event_stream.hpp>
#include <distrun/runner/report/json/summary.hpp>
#include <distrun/runner/report/xml/junit.hpp>

#include "samples.hpp"
#include "scratch.hpp"

using namespace distrun::report;
using namespace distrun::report::samples;

// Writes a report of each kind, of a run with every event, into the directory DISTRUN_REPORT_DIR, where
// scripts/validate-reports checks them against the schemas (ctest "report/reports of every kind are valid").
TEST_CASE("reports of every kind can be written", "[written-reports]") {
  const Scratch scratch;
  const char* directory = std::getenv("DISTRUN_REPORT_DIR");
  const std::string prefix = (directory != nullptr ? std::string(directory) : scratch.directory()) + "/";
  write_whole_file(prefix + "summary.json", summary_json(full_run()));
  write_whole_file(prefix + "empty-summary.json", summary_json(empty_run()));
  write_whole_file(prefix + "junit.xml", junit_xml(full_run()));
  write_whole_file(prefix + "empty-junit.xml", junit_xml(empty_run()));
  write_whole_file(prefix + "ctrf.json", ctrf_json(full_run()));
  write_whole_file(prefix + "empty-ctrf.json", ctrf_json(empty_run()));
  write_whole_file(prefix + "hosts-summary.json", summary_json(run_with_hosts()));
  write_whole_file(prefix + "hosts-junit.xml", junit_xml(run_with_hosts()));
  const auto nodes = run_of(on_two_nodes(deadlocked()));
  write_whole_file(prefix + "nodes-summary.json", summary_json(nodes));
  write_whole_file(prefix + "nodes-junit.xml", junit_xml(nodes));
  write_whole_file(prefix + "nodes-ctrf.json", ctrf_json(nodes));
  write_whole_file(prefix + "measured-summary.json", summary_json(run_of(measuring())));
  write_whole_file(prefix + "measured-junit.xml", junit_xml(run_of(measuring())));
  write_whole_file(prefix + "measured-ctrf.json", ctrf_json(run_of(measuring())));
  EventStream stream(prefix + "events.ndjson", distrun::base::system_clock());
  replay(full_run(), stream);
  replay(run_with_hosts(), stream);
  replay(nodes, stream);
  replay(run_of(measuring()), stream);
  CHECK(stream.error().empty());
}
