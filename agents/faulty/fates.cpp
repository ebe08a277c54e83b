#include <agents/faulty/fates.hpp>

#include <algorithm>
#include <string>
#include <string_view>

#include <distrun/common/base/rng.hpp>

namespace distrun::agents::faulty {
namespace {

using wire::Fault;
using wire::FaultKind;

constexpr std::size_t kMessagesMax = 100'000;  // remembered for Fail faults; later ones do not fail

// Returns a number uniform in [0, 1).
double unit_of(std::uint64_t drawn) noexcept { return static_cast<double>(drawn >> 11) * 0x1p-53; }

// Identifies a message by its content. Equal answers differ by the call that they answer; equal calls are retries.
std::uint64_t number_of(rpc::WorkerId to, FaultKind kind, const rpc::Message& message) {
  std::uint64_t number = base::derive_seed(static_cast<std::uint64_t>(to), wire::name_of(kind));
  if (kind == FaultKind::Reply || kind == FaultKind::Failure || kind == FaultKind::Cancel) {
    number = base::derive_seed(number, std::to_string(message.id));
  }
  return base::derive_seed(
      number, std::string_view(reinterpret_cast<const char*>(message.payload.data()), message.payload.size()));
}

}  // namespace

std::uint64_t Fates::Stream::next() noexcept {
  ++drawn;
  return base::derive_seed(seed, std::string_view(reinterpret_cast<const char*>(&drawn), sizeof drawn));
}

Fates::Stream& Fates::stream_of(rpc::WorkerId to, FaultKind kind, std::size_t fault) {
  const std::uint64_t key =
      static_cast<std::uint64_t>(to) << 16 | static_cast<std::uint64_t>(kind) << 8 | static_cast<std::uint64_t>(fault);
  const auto [found, is_new] = streams_.try_emplace(key);
  if (is_new) {
    found->second.seed =
        base::derive_seed(plan_.seed, std::to_string(self_) + " to " + std::to_string(to) + ", fault " +
                                          std::to_string(fault) + " of " + wire::name_of(kind));
  }
  return found->second;
}

void Fates::count_for_cuts(rpc::WorkerId to, Fate& fate) {
  const std::uint64_t sent = ++sent_[to];
  for (const Fault& fault : plan_.faults) {
    fate.is_cut |= fault.action == Fault::Action::Cut && fault.worker == to && fault.count == sent;
  }
}

Fate Fates::next(rpc::WorkerId to) {
  const std::lock_guard lock(mutex_);
  Fate fate;
  count_for_cuts(to, fate);
  return fate;
}

Fate Fates::next(rpc::WorkerId to, FaultKind kind, const rpc::Message& message) {
  const std::lock_guard lock(mutex_);
  Fate fate;
  count_for_cuts(to, fate);
  std::optional<std::uint64_t> number;
  for (std::size_t i = 0; i < plan_.faults.size(); ++i) {
    const Fault& fault = plan_.faults[i];
    if (!fault.kinds.test(static_cast<std::size_t>(kind))) continue;
    if (fault.action == Fault::Action::Fail && !number) number = number_of(to, kind, message);
    apply(fault, stream_of(to, kind, i).next(), number.value_or(0) + i, fate);  // each fault counts separately
  }
  return fate;
}

// The upper bits of `drawn` decide whether a fault hits; a corruption derives a new seed from all of its bits.
void Fates::apply(const Fault& fault, std::uint64_t drawn, std::uint64_t message, Fate& fate) {
  const bool is_hit = unit_of(drawn) < fault.chance;
  switch (fault.action) {
    case Fault::Action::Fail: {
      if (attempts_.size() >= kMessagesMax && attempts_.count(message) == 0) return;
      std::uint64_t& attempts = attempts_[message];
      if (attempts >= fault.count) return;
      ++attempts;
      fate.fails = true;
      return;
    }
    case Fault::Action::Delay:
      fate.delay = std::max(fate.delay, fault.delay);
      fate.keeps_order |= fault.keeps_order;
      return;
    case Fault::Action::Drop: fate.is_dropped |= is_hit; return;
    case Fault::Action::Duplicate: fate.is_doubled |= is_hit; return;
    case Fault::Action::Reorder:
      if (is_hit) fate.behind = std::max(fate.behind, static_cast<int>(fault.count));
      return;
    case Fault::Action::Corrupt:
      if (is_hit) fate.corruption = base::derive_seed(drawn, "corrupt");
      return;
    case Fault::Action::Cut: return;
  }
}

}  // namespace distrun::agents::faulty
