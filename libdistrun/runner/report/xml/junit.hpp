#pragma once
// The run as JUnit XML, for the many programs that read it: Jenkins' dialect with Surefire's
// elements for attempts that were repeated. One test case per test: several cases of one name, such
// as one per rank, would be merged or dropped by most readers.   Its shape: schema/junit.xsd.
#include <string>

#include <distrun/runner/record/record.hpp>

namespace distrun::report {

std::string junit_xml(const runner::RunRecord& run);

}  // namespace distrun::report
