#pragma once
// The texts of tags and locks of tests: the same rules for options, plugins' tables and settings files.
#include <string>
#include <string_view>
#include <vector>

namespace distrun::base {

// Returns whether the text may be a tag: 1 to 200 printable bytes without spaces, since spaces separate filters.
bool is_tag(std::string_view text);

// Return "it has the invalid tag 'a b'" or "it has 65 tags, the limit is 64"; empty: there is no such flaw. The name of
// a lock is like a tag, but may have spaces.
std::string flaw_of_tags(const std::vector<std::string>& tags);
std::string flaw_of_locks(const std::vector<std::string>& locks);

}  // namespace distrun::base
