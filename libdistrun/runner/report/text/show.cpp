#include <distrun/runner/report/text/show.hpp>

#include <distrun/runner/report/text/run_end_text.hpp>
#include <distrun/runner/report/text/test_line.hpp>

namespace distrun::report {

std::string show_text(const runner::RunRecord& run, const Paint& paint, std::size_t slow) {
  std::string text = run_line(run, static_cast<int>(run.tests.size()), paint) + "\n";
  for (const runner::TestRecord& test : run.tests) text += test_line(test, paint, 0) + "\n";
  return text + run_end_text(run, {}, paint, slow);
}

}  // namespace distrun::report
