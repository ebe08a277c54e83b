#pragma once
// A look at the ranks, painted: what they wait for, and their stacks.
#include <string>

#include <distrun/runner/record/record.hpp>
#include <distrun/runner/report/text/paint.hpp>

namespace distrun::report {

// With a headline: "Ring.pass after 31.2 s, stacks taken in 46 ms". Ends with a newline.
std::string look_text(const std::string& id, const runner::Look& look, const Paint& paint);
// The lines alone.
std::string painted(const std::vector<evidence::Line>& lines, const Paint& paint);

}  // namespace distrun::report
