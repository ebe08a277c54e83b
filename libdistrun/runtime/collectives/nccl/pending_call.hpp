#pragma once
// A call of the backend nccl from when it is asked for until it is settled: done, or failed.
//
//   asked for -> on its stream -> settled       a letter may wait for its communicator before it is on its stream
//
// Its end is an event of its stream. Whoever asks for the user (done(), a wait that blocks) asks as the host, which has
// seen then what the stream has done; the watchdog asks otherwise: what it happens to see must order nothing for the
// check of stream order.
#include <condition_variable>
#include <memory>
#include <mutex>

#include <distrun/common/board/slot_writer.hpp>
#include <distrun/runtime/collectives/device_backend.hpp>
#include <distrun/runtime/device/stream.hpp>

namespace distrun::collectives {

class Lane;  // lane.hpp
class PendingCall;

// Who knows what has become of calls.
class Judge {
 public:
  virtual ~Judge() = default;
  // Settles the call if it can be. `host_sees`: for the user.
  virtual void look_at(PendingCall& call, bool host_sees) = 0;
  // The same, and ends it if its time is over, or a rank that it needs has failed.
  virtual void time_out(PendingCall& call) = 0;
  // Places of those that it waits for, as far as that is known.
  virtual std::vector<int> missing(const PendingCall& call) const = 0;
  // The user is told the error of a call.
  virtual void see() noexcept = 0;
};

enum class Blocks : std::uint8_t { No, Yes };

// Any thread.
class PendingCall final : public StreamWork {
 public:
  PendingCall(StreamCall of, GroupInfo group, std::weak_ptr<Judge> judge, std::shared_ptr<Lane> lane, Blocks blocks);
  ~PendingCall() override;

  bool done() override;
  std::exception_ptr error() override;
  void wait(std::optional<base::Nanoseconds> timeout, base::Location site) override;

  // Once: all of it is on that stream by now.
  void put_on(device::Stream stream);
  // The first word counts; null: it is done.
  void settle(std::exception_ptr error) noexcept;
  bool is_settled() const;
  // Whether the stream has come to its end.
  bool has_passed(bool host_sees) const;
  // All ranks have called it.
  void set_met() noexcept;
  bool has_met() const;

  const Call& call() const noexcept { return of_.call; }
  StreamCall& of() noexcept { return of_; }
  Lane& lane() const noexcept { return *lane_; }
  base::TimePoint begin() const noexcept { return begin_; }

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
  device::EventId end_{};  // does not change once it is put
  std::exception_ptr error_;
};

}  // namespace distrun::collectives
