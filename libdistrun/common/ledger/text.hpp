#pragma once
// Formats pages for users.
#include <string>
#include <vector>

#include <distrun/common/ledger/ledger.hpp>

namespace distrun::ledger {

// Returns lines for all ranks of a test and for their cycles; "" if there are none. `now_ns` is of the monotonic clock.
std::string text_of(const std::vector<Page>& pages, std::int64_t now_ns);
// Returns a line for each cycle with its references; "" if there is none.
std::string cycles_text(const std::vector<Page>& pages);

}  // namespace distrun::ledger
