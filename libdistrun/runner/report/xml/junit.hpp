#pragma once
// Formats the run as JUnit XML in Jenkins' dialect, with Surefire's elements for repeated attempts. One test case per
// test: most readers would merge or drop several cases of one name, such as one per rank. Its shape: schema/junit.xsd.
#include <string>

#include <distrun/runner/record/record.hpp>

namespace distrun::report {

std::string junit_xml(const runner::RunRecord& run);

}  // namespace distrun::report
