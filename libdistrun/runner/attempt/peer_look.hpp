#pragma once
// When a rank has failed, looks at the ranks that go on: what they do says why they do not notice the failure.
//
// Most ranks end within milliseconds, with errors of their own; of those that have not after a fifth of the grace for
// peers, the stacks are taken, within half of it. Nothing waits for this: if the attempt ends first, it has no such
// snapshot. So no rank is stopped either: one that is killed while a probe holds it stays until the probe lets it go.
// Threads that run have no stack. Lives on: the coordinator's loop.
#include <memory>

#include <distrun/common/io/loop.hpp>
#include <distrun/runner/attempt/ranks.hpp>

namespace distrun::runner {

class PeerLook {
 public:
  // `ranks` must outlive this.
  explicit PeerLook(Ranks& ranks);

  // A rank has failed, and the others have been notified; they will be ended after `grace`.
  void begin(Nanoseconds grace);
  // The remaining ranks are about to be ended, or none works any more.
  void end();

 private:
  void look();
  void on_look(Snapshot snapshot);
  bool any_goes_on() const;

  Ranks& ranks_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // guards callbacks with stacks that arrive later
  bool is_wanted_ = false;
  Nanoseconds bound_{};  // of the stacks
  io::Alarm alarm_;
};

}  // namespace distrun::runner
