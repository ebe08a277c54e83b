#include "shard.hpp"

#include <charconv>

#include "parsing.hpp"

namespace distrun::cli {
namespace {

constexpr int kCountMax = 10'000;

// Returns `text` as a number; 0 if it is not one.
int whole(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size() ? value : 0;
}

}  // namespace

runner::Shard parse_shard(const std::string& option, const std::string& text) {
  const std::string_view all = text;
  const std::size_t slash = all.find('/');
  runner::Shard shard{whole(all.substr(0, slash)), slash == all.npos ? 0 : whole(all.substr(slash + 1))};
  if (shard.index < 1 || shard.count < 1 || shard.index > shard.count || shard.count > kCountMax) {
    refuse(option + " " + text + ": expected I/N with I from 1 to N and N at most " + std::to_string(kCountMax) +
           "; the first of three shards is 1/3, the last one 3/3");
  }
  return shard;
}

}  // namespace distrun::cli
