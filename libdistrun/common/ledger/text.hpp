#pragma once
// Pages as people read them.
#include <string>
#include <vector>

#include <distrun/common/ledger/ledger.hpp>

namespace distrun::ledger {

// Lines of all ranks of a test, and of their cycles; "" if there are none. `now_ns` is of the monotonic clock.
std::string text_of(const std::vector<Page>& pages, std::int64_t now_ns);
// A line for each cycle, with what is along it; "": there is none.
std::string cycles_text(const std::vector<Page>& pages);

}  // namespace distrun::ledger
