#include <distrun/runtime/collectives/call.hpp>

#include <algorithm>

namespace distrun::collectives {

const char* name_of(CallKind kind) noexcept {
  static constexpr const char* kNames[kCallKinds] = {"barrier",    "broadcast", "all_reduce", "reduce",
                                                     "all_gather", "gather",    "scatter",    "reduce_scatter",
                                                     "all_to_all", "send",      "receive"};
  const auto index = static_cast<std::size_t>(kind);
  return index < kCallKinds ? kNames[index] : "an unknown collective";
}

ShownSizes::ShownSizes(std::span<const std::int64_t> sizes) noexcept : dims(static_cast<std::uint32_t>(sizes.size())) {
  std::copy_n(sizes.begin(), std::min(sizes.size(), kMost), shown.begin());
}

std::string to_string(const ShownSizes& sizes) {
  std::string text;
  for (std::size_t i = 0; i < std::min<std::size_t>(sizes.dims, ShownSizes::kMost); ++i) {
    text += (i == 0 ? "" : ", ") + std::to_string(sizes.shown[i]);
  }
  return "[" + text + (sizes.dims > ShownSizes::kMost ? ", ...]" : "]");
}

std::size_t Call::bytes() const noexcept {
  if (!in.empty()) return in.front().size();
  return out.empty() ? 0 : out.front().size();
}

}  // namespace distrun::collectives
