#include <distrun/runner/attempt/gentle_look.hpp>

#include <utility>

#include <distrun/runner/mpi/waits.hpp>
#include <distrun/runner/record/snapshot.hpp>

namespace distrun::runner {

void look_gently(Ranks& ranks, const GentleLook& look, std::weak_ptr<const void> guard,
                 std::function<void(Snapshot)> on_look) {
  Snapshot snapshot;
  snapshot.kind = look.kind;
  snapshot.at = ranks.log.age();
  snapshot.at_ns = monotonic_ns(ranks.clocks.now());
  snapshot.hosts = ranks.hosts();
  snapshot.ranks = ranks.views();
  launch::StackOrder order;
  order.samples = look.samples;
  order.bound = look.bound;
  order.gentle = true;
  order.adopted = ranks.spawned;
  const std::uint64_t sent = ranks.messaging.sent();
  ranks.world->collect_stacks(order, [&ranks, sent, guard = std::move(guard), on_look = std::move(on_look),
                                      snapshot = std::move(snapshot)](evidence::Stacks stacks) mutable {
    if (guard.expired()) return;
    snapshot.has_news_in_flight = ranks.may_have_news_since(sent);
    snapshot.took = ranks.log.age() - snapshot.at;
    snapshot.stacks = std::move(stacks);
    snapshot.stacks.hosts = snapshot.hosts;
    if (ranks.mpi != nullptr) mpi::add_calls(*ranks.mpi, snapshot);
    on_look(std::move(snapshot));
  });
}

}  // namespace distrun::runner
