#include <distrun/plugin/rank/traced_wait.hpp>

#include <bit>

namespace distrun::rank {
namespace {

void add_peers(trace::SliceInfo& slice, const board::WaitInfo& info) noexcept {
  int count = 0;
  int last = -1;
  for (std::size_t word = 0; word < info.peers.bits.size(); ++word) {
    const std::uint64_t bits = info.peers.bits[word];
    if (bits == 0) continue;
    count += std::popcount(bits);
    last = static_cast<int>(word) * 64 + static_cast<int>(std::bit_width(bits)) - 1;
    slice.has_more_peers = word > 0;
  }
  if (count == 1) {
    slice.rule = trace::Peers::One;
    slice.peers = static_cast<std::uint64_t>(last);
    return;
  }
  if (info.rule == board::PeerRule::None) return;
  slice.rule = info.rule == board::PeerRule::Any ? trace::Peers::Any : trace::Peers::All;
  slice.peers = info.peers.bits.front();
}

}  // namespace

trace::SliceInfo slice_of(const board::WaitInfo& info) noexcept {
  trace::SliceInfo slice;
  slice.kind = info.kind == board::WaitKind::Handler ? trace::Kind::Handler : trace::Kind::Wait;
  slice.detail = static_cast<std::uint8_t>(info.kind);
  slice.id = info.id;
  slice.name = info.name;
  slice.place = info.site.file;
  slice.line = info.site.line;
  if (info.rule != board::PeerRule::None || info.kind == board::WaitKind::Handler) add_peers(slice, info);
  return slice;
}

}  // namespace distrun::rank
