#include <distrun/runner/attempt/peer_look.hpp>

#include <algorithm>
#include <utility>

#include <distrun/common/base/deadline.hpp>
#include <distrun/runner/attempt/gentle_look.hpp>
#include <distrun/runner/record/snapshot.hpp>

namespace distrun::runner {
namespace {

constexpr int kLookAfter = 5;  // this part of the grace
constexpr int kLookTakes = 2;

bool goes_on(const RankState& rank) { return rank.alive() && !rank.decided() && !rank.done; }

}  // namespace

PeerLook::PeerLook(Ranks& ranks) : ranks_(ranks), alarm_(ranks.run.loop, [this] { look(); }) {}

void PeerLook::begin(Nanoseconds grace) {
  is_wanted_ = grace.count() > 0;
  bound_ = grace / kLookTakes;
  if (is_wanted_) alarm_.set(base::deadline_after(grace / kLookAfter, ranks_.clocks.now()));
}

void PeerLook::end() {
  is_wanted_ = false;
  alarm_.cancel();
}

bool PeerLook::any_goes_on() const { return std::any_of(ranks_.all.begin(), ranks_.all.end(), goes_on); }

void PeerLook::look() {
  if (!is_wanted_ || ranks_.world == nullptr || !any_goes_on()) return;
  look_gently(ranks_, {SnapshotKind::Failure, 2, bound_}, alive_, [this](Snapshot snapshot) {
    if (is_wanted_) on_look(std::move(snapshot));
  });
}

// Ranks that have failed are told by their errors.
void PeerLook::on_look(Snapshot snapshot) {
  is_wanted_ = false;
  const auto is_over = [&](int rank) { return ranks_.has(rank) && !goes_on(ranks_.at(rank)); };
  std::erase_if(snapshot.ranks, [&](const RankView& view) { return is_over(view.rank); });
  std::erase_if(snapshot.stacks.processes,
                [&](const evidence::Process& each) { return !each.has_thread_ranks && is_over(each.rank); });
  snapshot.text = describe(snapshot);
  if (snapshot.text.empty()) return;
  ranks_.log.add_snapshot(std::move(snapshot));
}

}  // namespace distrun::runner
