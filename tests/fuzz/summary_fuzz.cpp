// A summary file: read or refused. One that is read can be written, and what is written reads the same.
#include <distrun/base/error.hpp>
#include <distrun/report/read_summary.hpp>
#include <distrun/report/summary.hpp>

#include "fuzz.hpp"

using namespace distrun;
using fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  runner::RunRecord run;
  try {
    run = report::read_summary(fuzz::text_of(data, size));
  } catch (const Error& error) {
    require(error.kind() == ErrorKind::InvalidArgument, "a refusal is an invalid argument");
    return 0;
  }
  const std::string once = report::summary_json(run);
  const std::string twice = report::summary_json(report::read_summary(once));
  require(once == twice, "a summary that was written is read as it is");
  return 0;
}
