#pragma once
// The run in the Common Test Report Format (ctrf.io), version 0.0.0, for the dashboards and bots that read it. What
// the format has no word for stands in its `extra` objects: ranks, culprits, leaks. Times are whole milliseconds, as
// it asks for. What is written of the format: schema/ctrf.schema.json.
//
//   distrun                                  CTRF
//   pass                                     passed
//   flaky                                    passed, with "flaky": true
//   fail, crash, timeout, deadlock, leak     failed
//   infra-error, problems                    failed: whoever asks for "failed == 0" must not see green
//   skip                                     skipped
//   cancelled                                other: it neither passed nor failed
//
// The verdict itself is `rawStatus`. Nothing is `pending`.
#include <string>

#include <distrun/runner/record/record.hpp>

namespace distrun::report {

std::string ctrf_json(const runner::RunRecord& run);

}  // namespace distrun::report
