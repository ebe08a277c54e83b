#include "examination.hpp"

#include <distrun/runner/report/json/cause_json.hpp>
#include <distrun/runner/report/json/json_parts.hpp>
#include <distrun/runner/report/json/snapshot_json.hpp>
#include <distrun/runner/report/text/examination_text.hpp>

namespace distrun::cli {
namespace {

using runner::doctor::HangFinding;

void write_test(report::JsonWriter& out, const ExaminedTest& test) {
  out.begin_object();
  out.field_if(!test.test.empty(), "test", test.test);
  out.field("finding", name_of(test.examination.finding));
  report::write_hang_causes(out, test.examination.causes);
  report::write_array(out, "unseen", test.examination.unseen);
  out.key("snapshot");
  out.begin_object();
  report::write_snapshot_fields(out, test.snapshot);
  out.end_object();
  out.end_object();
}

}  // namespace

HangFinding finding_of(const std::vector<ExaminedTest>& tests) {
  HangFinding finding = HangFinding::NoHang;
  for (const ExaminedTest& each : tests) finding = worst_of(finding, each.examination.finding);
  return finding;
}

std::vector<evidence::Line> lines_of(const ExaminedTest& test) {
  std::vector<evidence::Line> lines = report::examination_lines(test.examination);
  if (!test.snapshot.text.empty()) lines.emplace_back();
  lines.insert(lines.end(), test.snapshot.text.begin(), test.snapshot.text.end());
  return lines;
}

std::string examination_json(const std::string& run_id, const std::vector<ExaminedTest>& tests) {
  report::JsonWriter out(report::JsonWriter::Layout::Pretty);
  out.begin_object();
  out.field("schema", "distrun.doctor/1");
  out.field_if(!run_id.empty(), "run_id", run_id);
  out.field("finding", name_of(finding_of(tests)));
  out.key("tests");
  out.begin_array();
  for (const ExaminedTest& each : tests) write_test(out, each);
  out.end_array();
  out.end_object();
  return out.take() + "\n";
}

}  // namespace distrun::cli
