#include <distrun/runner/nodes/seen_output.hpp>

namespace distrun::nodes {
namespace {

constexpr std::size_t kKeptMax = 1 << 20;  // bytes of each stream
constexpr std::size_t kLastErrorsMax = 128 << 10;

}  // namespace

void SeenOutput::begin(std::size_t ranks, bool keep_all) {
  by_rank_.assign(ranks, {proc::Capture(keep_all ? kKeptMax : 0), proc::Capture(keep_all ? kKeptMax : kLastErrorsMax)});
}

void SeenOutput::add(const OutputPiece& piece) {
  if (!has_begun()) return;
  by_rank_.at(static_cast<std::size_t>(piece.rank)).at(static_cast<std::size_t>(piece.stream)).append(piece.bytes);
}

proc::Captured SeenOutput::of(int rank, launch::Stream stream) const {
  return by_rank_.at(static_cast<std::size_t>(rank)).at(static_cast<std::size_t>(stream)).captured();
}

}  // namespace distrun::nodes
