#pragma once
// Formats the run in the Common Test Report Format (ctrf.io), version 0.0.0, which dashboards and bots read. Data
// without a field in the format goes to its `extra` objects: ranks, culprits, leaks. Times are whole milliseconds, as
// the format requires. The part of the format that is used: schema/ctrf.schema.json.
//
//   distrun                                  CTRF
//   pass                                     passed
//   flaky                                    passed, with "flaky": true
//   fail, crash, timeout, deadlock, leak     failed
//   infra-error, problems                    failed: a check for "failed == 0" must not succeed
//   skip                                     skipped
//   cancelled                                other: it neither passed nor failed
//
// The verdict itself is `rawStatus`. `pending` is never used.
#include <string>

#include <distrun/runner/record/record.hpp>

namespace distrun::report {

std::string ctrf_json(const runner::RunRecord& run);

}  // namespace distrun::report
