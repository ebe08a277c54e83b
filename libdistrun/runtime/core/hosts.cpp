#include <distrun/runtime/core/hosts.hpp>

#include <arpa/inet.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdlib>
#include <memory>

#include <distrun/common/base/error.hpp>

namespace distrun::core {
namespace {

constexpr char kHosts[] = "DISTRUN_HOSTS", kAddress[] = "DISTRUN_HOST_ADDRESS";
constexpr int kRanksMost = 1 << 15;
constexpr std::size_t kNameMost = 100;

std::atomic<int> rank_of_process{-1};

[[noreturn]] void refuse(const char* variable, std::string_view value, const std::string& why) {
  throw Error(ErrorKind::InvalidArgument, "ValueError",
              std::string("$") + variable + " is \"" + std::string(value) + "\": " + why);
}

[[noreturn]] void refuse_hosts(std::string_view value, const std::string& why) {
  refuse(kHosts, value, why + "; expected the ranks of each host, as in node01=0-3;node02=4,6-7");
}

bool is_name(std::string_view name) {
  return !name.empty() && name.size() <= kNameMost && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.' ||
           c == '_';
  });
}

// Returns the text before the next separator, and removes both.
std::string_view take_part(std::string_view& text, char separator) {
  const std::string_view part = text.substr(0, text.find(separator));
  text.remove_prefix(std::min(text.size(), part.size() + 1));
  return part;
}

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

// Returns -1 if it is not a rank.
int rank_in(std::string_view text) {
  int rank = -1;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), rank);
  const bool is_rank = parsed.ec == std::errc{} && parsed.ptr == text.data() + text.size();
  return is_rank && rank >= 0 && rank < kRanksMost ? rank : -1;
}

bool is_address(const std::string& text) {
  in6_addr bytes{};
  return ::inet_pton(AF_INET, text.c_str(), &bytes) == 1 || ::inet_pton(AF_INET6, text.c_str(), &bytes) == 1;
}

std::string_view text_of(const char* variable) {
  const char* const value = std::getenv(variable);
  return value != nullptr ? value : std::string_view();
}

int own_rank() {
  const int known = rank_of_process.load();
  return known >= 0 ? known : rank_in(text_of("DISTRUN_RANK"));
}

// The environment as it was read. Immutable and never destroyed, so that nothing is locked, which a fork could break.
struct Known {
  std::string hosts, address;
  int rank = -1;
  Hosts parsed;
  const Known* before = nullptr;
};

std::atomic<const Known*> last_known{nullptr};

const Known* find_known(const Known* first, std::string_view hosts, std::string_view address, int rank) noexcept {
  while (first != nullptr && (first->hosts != hosts || first->address != address || first->rank != rank)) {
    first = first->before;
  }
  return first;
}

}  // namespace

Hosts::Hosts(std::string_view hosts, std::string_view address, int rank) {
  if (hosts.empty()) return;
  parse(hosts);
  if (!are_several()) return;
  name_ = host_of(rank);
  rank_ = rank;
  if (name_.empty() && rank >= 0) refuse_hosts(hosts, "no host has rank " + std::to_string(rank) + ", which runs here");
  address_ = address;
  if (!is_address(address_)) {
    refuse(kAddress, address,
           "expected the numeric IPv4 or IPv6 address at which other hosts reach this one, as in 10.77.1.2; "
           "$DISTRUN_HOSTS names several hosts");
  }
}

void Hosts::parse(std::string_view text) {
  for (std::string_view rest = text; !rest.empty();) add(take_part(rest, ';'), text);
}

void Hosts::add(std::string_view entry, std::string_view text) {
  std::string_view ranks = entry;
  const std::string name(trimmed(take_part(ranks, '=')));
  if (!is_name(name)) {
    refuse_hosts(text, "\"" + name + "\" is not a host's name, which has up to 100 letters, digits, '-', '.' and '_'");
  }
  if (by_name_.contains(name)) refuse_hosts(text, "host " + name + " is listed twice");
  std::vector<int>& of_host = by_name_[name];
  do {
    const std::string_view part = trimmed(take_part(ranks, ','));
    std::string_view range = part;
    const int first = rank_in(take_part(range, '-'));
    const int last = part.find('-') == std::string_view::npos ? first : rank_in(range);
    if (first < 0 || last < first) {
      refuse_hosts(text, "host " + name + " has \"" + std::string(part) + "\", which is not a rank or a range of them");
    }
    for (int rank = first; rank <= last; ++rank) {
      if (!by_rank_.emplace(rank, name).second) refuse_hosts(text, "rank " + std::to_string(rank) + " is on two hosts");
      of_host.push_back(rank);
    }
  } while (!ranks.empty());
}

std::string Hosts::host_of(int rank) const {
  const auto found = by_rank_.find(rank);
  return found != by_rank_.end() && are_several() ? found->second : std::string();
}

const Hosts& hosts() {
  static const Hosts one;
  const std::string_view text = text_of(kHosts);
  if (text.empty()) return one;
  const std::string_view address = text_of(kAddress);
  const int rank = own_rank();
  const Known* last = last_known.load();
  if (const Known* const found = find_known(last, text, address, rank)) return found->parsed;
  auto next = std::make_unique<Known>(
      Known{std::string(text), std::string(address), rank, Hosts(text, address, rank), nullptr});
  do next->before = last;
  while (!last_known.compare_exchange_weak(last, next.get()));
  return next.release()->parsed;
}

const Hosts& known_hosts() noexcept {
  static const Hosts one;
  try {
    return hosts();
  } catch (const std::exception&) {  // ours, or std::bad_alloc
    return one;
  }
}

void set_rank_of_process(int rank) noexcept { rank_of_process.store(rank); }

}  // namespace distrun::core
