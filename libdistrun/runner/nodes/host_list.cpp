#include <distrun/runner/nodes/host_list.hpp>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>
#include <set>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/text.hpp>
#include <distrun/common/wire/plugin_table.hpp>

namespace distrun::nodes {
namespace {

constexpr std::size_t kNameMax = 253;    // of DNS
constexpr std::size_t kDigitsMax = 9;    // of a number in brackets
constexpr std::size_t kListMax = 65536;  // bytes

// Where a list comes from, for errors.
struct Source {
  const std::string& name;
  std::string_view list;

  [[noreturn]] void refuse(const std::string& why) const {
    throw Error(ErrorKind::InvalidArgument, name + " " + base::one_line(list) + ": " + why +
                                                "; expected host names separated by commas, as in node01,node02:4 or "
                                                "node[01-04]");
  }
};

// Splits at the commas that are outside of brackets.
std::vector<std::string_view> entries_of(const Source& source) {
  std::vector<std::string_view> entries;
  bool is_inside = false;
  std::size_t begin = 0;
  for (std::size_t at = 0; at <= source.list.size(); ++at) {
    const char c = at < source.list.size() ? source.list[at] : ',';
    if ((c == '[' && is_inside) || (c == ']' && !is_inside)) source.refuse("a bracket does not match");
    if (c == '[' || c == ']') is_inside = c == '[';
    if (c != ',' || (is_inside && at < source.list.size())) continue;
    if (is_inside) source.refuse("a bracket is not closed");
    if (at == begin) source.refuse("a name is empty");
    entries.push_back(source.list.substr(begin, at - begin));
    begin = at + 1;
  }
  return entries;
}

std::optional<int> number_of(std::string_view digits) {
  int value = 0;
  if (digits.empty() || digits.size() > kDigitsMax || std::isdigit(static_cast<unsigned char>(digits[0])) == 0) {
    return std::nullopt;
  }
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
  return value;
}

// Appends "08", "09", "10" for "08-10". As Slurm does, pads to the width of the first number.
void append_range(const Source& source, std::string_view range, std::vector<std::string>& numbers) {
  const std::size_t dash = range.find('-');
  const std::string_view first = range.substr(0, dash);
  const auto low = number_of(first);
  const auto high = dash == range.npos ? low : number_of(range.substr(dash + 1));
  if (!low || !high || *high < *low) {
    source.refuse("\"" + base::one_line(range, 40) + "\" in brackets is neither a number nor a range of them");
  }
  if (static_cast<std::size_t>(*high - *low) >= kHostsMax) {
    source.refuse("it has more than " + std::to_string(kHostsMax) + " hosts");
  }
  for (int value = *low; value <= *high; ++value) {
    std::string text = std::to_string(value);
    if (text.size() < first.size()) text.insert(0, first.size() - text.size(), '0');
    numbers.push_back(std::move(text));
  }
}

std::vector<std::string> numbers_of(const Source& source, std::string_view inside) {
  std::vector<std::string> numbers;
  for (std::size_t at = 0; at <= inside.size();) {
    const std::size_t end = std::min(inside.find(',', at), inside.size());
    append_range(source, inside.substr(at, end - at), numbers);
    at = end + 1;
  }
  return numbers;
}

// Returns each of the beginnings with each of the ends behind it.
std::vector<std::string> joined(const Source& source, const std::vector<std::string>& begins,
                                const std::vector<std::string>& ends) {
  if (begins.size() * ends.size() > kHostsMax) {
    source.refuse("it has more than " + std::to_string(kHostsMax) + " hosts");
  }
  std::vector<std::string> names;
  for (const std::string& begin : begins) {
    for (const std::string& end : ends) names.push_back(begin + end);
  }
  return names;
}

// Returns the names of one entry; its brackets match.
std::vector<std::string> expand_entry(const Source& source, std::string_view entry) {
  std::vector<std::string> names{""};
  while (!entry.empty()) {
    const std::size_t open = std::min(entry.find('['), entry.size());
    names = joined(source, names, {std::string(entry.substr(0, open))});
    entry.remove_prefix(open);
    if (entry.empty()) break;
    const std::size_t close = entry.find(']');
    names = joined(source, names, numbers_of(source, entry.substr(1, close - 1)));
    entry.remove_prefix(close + 1);
  }
  for (const std::string& name : names) {
    if (is_host_name(name)) continue;
    source.refuse("\"" + base::one_line(name, 60) +
                  "\" is not a host name (letters, digits, '-', '.' and '_', but no '-' at the beginning)");
  }
  return names;
}

Source checked(const std::string& name, std::string_view list) {
  const Source source{name, list};
  if (list.empty()) source.refuse("the list is empty");
  if (list.size() > kListMax) source.refuse("it is longer than " + std::to_string(kListMax) + " bytes");
  return source;
}

// Splits "node[1-2]:8" into the names and the number. The number is 0 if it is not given.
int take_ranks(const Source& source, std::string_view& entry) {
  const std::size_t colon = entry.rfind(':');
  if (colon == entry.npos) return 0;
  const std::string_view text = entry.substr(colon + 1);
  const auto ranks = number_of(text);
  if (!ranks || *ranks < 1 || *ranks > wire::kWorldSizeMax) {
    source.refuse("\"" + base::one_line(text, 40) + "\" is not a number of ranks (1 to " +
                  std::to_string(wire::kWorldSizeMax) + ")");
  }
  entry = entry.substr(0, colon);
  return *ranks;
}

}  // namespace

bool is_host_name(std::string_view name) noexcept {
  const auto may_stand = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.' ||
           c == '_';
  };
  return !name.empty() && name.size() <= kNameMax && name.front() != '-' &&
         std::all_of(name.begin(), name.end(), may_stand);
}

std::vector<std::string> expand_hosts(const std::string& source, std::string_view list) {
  const Source from = checked(source, list);
  std::vector<std::string> names;
  for (const std::string_view entry : entries_of(from)) {
    for (std::string& name : expand_entry(from, entry)) names.push_back(std::move(name));
    if (names.size() > kHostsMax) from.refuse("it has more than " + std::to_string(kHostsMax) + " hosts");
  }
  return names;
}

std::vector<HostSlot> parse_hosts(const std::string& source, std::string_view list) {
  const Source from = checked(source, list);
  std::vector<HostSlot> slots;
  std::set<std::string> seen;
  for (std::string_view entry : entries_of(from)) {
    const int ranks = take_ranks(from, entry);
    if (entry.empty()) from.refuse("a name is empty");
    for (std::string& name : expand_entry(from, entry)) {
      if (!seen.insert(name).second) from.refuse("the host " + name + " occurs twice");
      slots.push_back({std::move(name), ranks});
    }
    if (slots.size() > kHostsMax) from.refuse("it has more than " + std::to_string(kHostsMax) + " hosts");
  }
  return slots;
}

}  // namespace distrun::nodes
