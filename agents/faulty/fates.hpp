#pragma once
// Decides what happens to each message. The decision depends on the plan, its seed, and the number of messages of that
// kind sent to that worker before; never on time. Every fault draws separately, so faults of a plan are independent.
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <unordered_map>

#include <distrun/common/wire/fault_plan.hpp>
#include <distrun/runtime/rpc/message.hpp>
#include <distrun/runtime/rpc/worker_info.hpp>

namespace distrun::agents::faulty {

struct Fate {
  bool is_cut = false;
  bool fails = false;
  bool is_dropped = false;
  bool is_doubled = false;
  std::optional<std::uint64_t> corruption;  // random bits that choose the bit to flip
  base::Nanoseconds delay{};
  bool keeps_order = false;
  int behind = 0;  // number of later messages that overtake it; 0: not reordered
};

// Thread-safe.
class Fates {
 public:
  Fates(wire::FaultPlan plan, rpc::WorkerId self) : plan_(std::move(plan)), self_(self) {}

  // Returns the fate of the next message to that worker.
  Fate next(rpc::WorkerId to, wire::FaultKind kind, const rpc::Message& message);
  // Returns the fate of a message that no fault can name. It counts for cuts only.
  Fate next(rpc::WorkerId to);
  const wire::FaultPlan& plan() const noexcept { return plan_; }

 private:
  // The random numbers that one fault draws for messages of one kind to one worker.
  struct Stream {
    std::uint64_t seed = 0;
    std::uint64_t drawn = 0;
    std::uint64_t next() noexcept;
  };

  void count_for_cuts(rpc::WorkerId to, Fate& fate);
  Stream& stream_of(rpc::WorkerId to, wire::FaultKind kind, std::size_t fault);
  void apply(const wire::Fault& fault, std::uint64_t drawn, std::uint64_t message, Fate& fate);

  const wire::FaultPlan plan_;
  const rpc::WorkerId self_;
  std::mutex mutex_;
  // Guarded by mutex_.
  std::unordered_map<std::uint64_t, Stream> streams_;
  std::unordered_map<rpc::WorkerId, std::uint64_t> sent_;
  std::unordered_map<std::uint64_t, std::uint64_t> attempts_;  // by the hash that identifies a message
};

}  // namespace distrun::agents::faulty
