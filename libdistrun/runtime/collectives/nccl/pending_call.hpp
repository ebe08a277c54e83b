#pragma once
// A call of the backend nccl from its request until it is settled: done, or failed.
//
//   requested -> on its stream -> settled       a message may first wait for its communicator
//
// An event on its stream marks its end. User queries (done(), a wait that blocks) synchronize the host with the stream;
// the watchdog's queries do not: they must not add an ordering to the check of stream order.
#include <condition_variable>
#include <memory>
#include <mutex>

#include <distrun/common/board/slot_writer.hpp>
#include <distrun/runtime/collectives/device_backend.hpp>
#include <distrun/runtime/device/stream.hpp>

namespace distrun::collectives {

class Lane;  // lane.hpp
class PendingCall;

// Decides the result of calls.
class Judge {
 public:
  virtual ~Judge() = default;
  // Settles the call if possible. `host_sees`: on behalf of the user.
  virtual void look_at(PendingCall& call, bool host_sees) = 0;
  // Does the same, and fails the call after its deadline, or if a rank that it needs has failed.
  virtual void time_out(PendingCall& call) = 0;
  // Returns the group ranks that the call waits for, as far as known.
  virtual std::vector<int> missing(const PendingCall& call) const = 0;
  // Called when the user gets the error of a call.
  virtual void see() noexcept = 0;
};

enum class Blocks : std::uint8_t { No, Yes };

// Thread-safe.
class PendingCall final : public StreamWork {
 public:
  PendingCall(StreamCall of, GroupInfo group, std::weak_ptr<Judge> judge, std::shared_ptr<Lane> lane, Blocks blocks);
  ~PendingCall() override;

  bool done() override;
  std::exception_ptr error() override;
  void wait(std::optional<base::Nanoseconds> timeout, base::Location site) override;

  // Call once, when all of the call is on that stream.
  void put_on(device::Stream stream);
  // Settles the call with an error, or null for success. The first call counts.
  void settle(std::exception_ptr error) noexcept;
  bool is_settled() const;
  // Returns true if the stream has finished the call.
  bool has_passed(bool host_sees) const;
  // Called when all ranks have made the call.
  void set_met() noexcept;
  bool has_met() const;

  const Call& call() const noexcept { return of_.call; }
  StreamCall& of() noexcept { return of_; }
  Lane& lane() const noexcept { return *lane_; }

 private:
  void wait_until_put(base::Location site);
  void block(std::optional<base::Nanoseconds> timeout, base::Location site);
  void throw_if_failed();
  std::vector<int> missing() const;
  board::WaitInfo shown(const std::string& name, base::Location site) const;
  [[noreturn]] void throw_not_done(const std::vector<int>& missing, base::Location site) const;

  StreamCall of_;
  const GroupInfo group_;
  const std::weak_ptr<Judge> judge_;
  const std::shared_ptr<Lane> lane_;
  const Blocks blocks_;
  const base::TimePoint begin_;
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  // Guarded by mutex_.
  bool is_put_ = false;
  bool is_settled_ = false;
  bool has_met_ = false;
  device::EventId end_{};  // does not change after put_on()
  std::exception_ptr error_;
};

}  // namespace distrun::collectives
