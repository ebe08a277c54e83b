#pragma once
// A snapshot of an attempt's ranks that stops none of them: the stacks are those of threads that sleep.
#include <functional>
#include <memory>

#include <distrun/runner/attempt/ranks.hpp>

namespace distrun::runner {

struct GentleLook {
  SnapshotKind kind = SnapshotKind::Suspect;
  int samples = 1;  // more say which threads stand still, and take longer
  Nanoseconds bound{};
};

// Calls `on_look` once, from the loop, within about the bound, unless `guard` has expired by then or the world is
// destroyed. `ranks` must outlive the guard.
void look_gently(Ranks& ranks, const GentleLook& look, std::weak_ptr<const void> guard,
                 std::function<void(Snapshot)> on_look);

}  // namespace distrun::runner
