#pragma once
#include <string>

#include <distrun/runner/record/record.hpp>
#include <distrun/runner/report/xml/xml_writer.hpp>

namespace distrun::report {

// <testcase> for one test with all its attempts.
void write_junit_case(XmlWriter& out, const runner::Settings& settings,
                      const runner::TestRecord& test);
// <testcase> for something that kept tests from running.
void write_junit_problem(XmlWriter& out, const runner::Problem& problem);

// "ring.Collectives": the plugin's file name without its ending, and the suite.
std::string junit_class_name(const runner::TestRecord& test);
// "0.012".
std::string junit_seconds(base::Nanoseconds duration);

}  // namespace distrun::report
