#include <distrun/common/base/label.hpp>

#include <algorithm>

#include <distrun/common/base/text.hpp>

namespace distrun::base {
namespace {

constexpr std::size_t kSizeMax = 200;
constexpr std::size_t kCountMax = 64;

bool is_printable_from(unsigned char least, std::string_view text) {
  return !text.empty() && text.size() <= kSizeMax &&
         std::all_of(text.begin(), text.end(), [least](unsigned char c) { return c >= least && c != 0x7f; });
}

bool is_lock(std::string_view text) { return is_printable_from(' ', text); }

std::string flaw_of(const std::vector<std::string>& labels, const std::string& what,
                    bool (*is_good)(std::string_view)) {
  const auto bad = std::find_if_not(labels.begin(), labels.end(), is_good);
  if (bad != labels.end()) return "it has the invalid " + what + " '" + one_line(*bad) + "'";
  if (labels.size() <= kCountMax) return "";
  return "it has " + std::to_string(labels.size()) + " " + what + "s, the limit is " + std::to_string(kCountMax);
}

}  // namespace

bool is_tag(std::string_view text) { return is_printable_from('!', text); }

std::string flaw_of_tags(const std::vector<std::string>& tags) { return flaw_of(tags, "tag", is_tag); }
std::string flaw_of_locks(const std::vector<std::string>& locks) { return flaw_of(locks, "lock", is_lock); }

}  // namespace distrun::base
