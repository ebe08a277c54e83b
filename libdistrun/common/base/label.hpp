#pragma once
// The texts of tags and locks of tests: the same rules for options, plugins' tables and settings files.
#include <string>
#include <string_view>
#include <vector>

namespace distrun::base {

// Returns whether the text may be a tag: 1 to 200 printable bytes without spaces, since spaces separate filters.
bool is_tag(std::string_view text);

// Returns the first flaw of a test's tags: "it has the invalid tag 'a b'" or "it has 65 tags, the limit is 64".
// Empty: they have none.
std::string flaw_of_tags(const std::vector<std::string>& tags);

// Returns the first flaw of the names of a test's locks, as flaw_of_tags() does. They may have spaces.
std::string flaw_of_locks(const std::vector<std::string>& locks);

}  // namespace distrun::base
