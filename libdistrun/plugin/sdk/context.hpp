#pragma once
// The context of a test's body: its rank, and communication with the other ranks. The SDK creates one per rank; it
// lives as long as the test. Thread-safe for the threads of the rank.
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include <distrun/plugin/sdk/plugin.h>
#include <distrun/common/base/error.hpp>
#include <distrun/common/base/location.hpp>
#include <distrun/plugin/sdk/parameters.hpp>
#include <distrun/plugin/sdk/tally.hpp>

namespace distrun {

// No timeout of the call; the timeout of the phase still applies.
inline constexpr std::chrono::milliseconds kNoBound{-1};

// A message that receive_from_any() has received.
struct Message {
  int from = -1;     // the sender's rank
  std::string data;  // as passed to send()
};

class SuiteFixture;

// A rank of a test, for the test's body. Thread-safe for the threads of the rank.
class Rank {
 public:
  // `line` must outlive the context.
  Rank(const distrun_rank& line, Parameters parameters);
  Rank(const Rank&) = delete;
  Rank& operator=(const Rank&) = delete;

  int rank() const noexcept { return line_.rank; }              // 0 .. world_size() - 1
  int world_size() const noexcept { return line_.world_size; }  // ranks of this test
  bool is_master() const noexcept { return line_.rank == 0; }   // rank 0
  int attempt() const noexcept { return line_.attempt; }        // 1 for the first
  int gpus() const noexcept { return line_.gpus; }              // GPUs of the run: --gpus
  std::string_view worker_name() const noexcept;                // "worker2"
  std::string worker_name(int rank) const;                      // of another rank
  std::string_view run_id() const noexcept;                     // use it in names of things that need cleaning up
  std::string_view test_id() const noexcept;                    // "Suite.name/key=value"
  std::string_view work_dir() const noexcept;                   // private to this rank; removed after the attempt
  std::string_view temp_dir() const noexcept;                   // shared by the ranks; removed after the attempt
  std::string_view backend() const noexcept;                    // --backend: of process groups
  std::string_view agent() const noexcept;                      // --agent: of RPC
  std::string_view gpu_driver() const noexcept;                 // --gpu-driver
  std::string_view init_method() const noexcept;                // "file:///..."
  const Parameters& parameters() const noexcept { return parameters_; }  // of this element of the test
  // Returns a directory shared by the suite's host and the ranks of all its tests, removed after the last test. Empty
  // if the suite has no host code.
  std::string_view suite_dir() const noexcept;
  // Returns a setting of the suite's host. Throws Error{InvalidArgument, KeyError} with the existing keys.
  std::string_view setting(std::string_view key) const;
  // Returns this rank's suite fixture (plugin/sdk/suite.hpp). Throws Error{InvalidArgument} if it is not a T.
  template <class T>
  T& suite() const;

  // Differs between ranks; reproducible with --seed.
  std::uint64_t seed() const noexcept;
  // Is the same on every rank; reproducible with --seed.
  std::uint64_t shared_seed() const noexcept { return line_.seed; }

  // Blocks until every living rank is in the barrier. Throws PeerFailed if a rank failed or finished without arriving,
  // Error{Timeout} after `timeout`, Error{Failed} in an inline function of RPC, which must not wait.
  void barrier(std::string_view name = "barrier", std::chrono::milliseconds timeout = kNoBound,
               base::Location where = base::Location::here());

  // Sends a message to a rank, which may be this one, and does not wait. Messages go through the coordinator: use them
  // for test logic, not for bulk data. They arrive in order per sender and tag. Throws Error{InvalidArgument} for a
  // rank that does not exist, and for more than 16 MiB.
  void send(int to, std::string_view tag, std::string_view data, base::Location where = base::Location::here());
  // Blocks until a message of that rank with that tag arrives, and returns it. Throws Error{InvalidArgument} for a rank
  // that does not exist, PeerFailed if that rank failed or finished without sending, Error{Timeout} after `timeout`.
  std::string receive(int from, std::string_view tag, std::chrono::milliseconds timeout = kNoBound,
                      base::Location where = base::Location::here());
  // Blocks until a message with that tag arrives from any rank. Throws as receive().
  Message receive_from_any(std::string_view tag, std::chrono::milliseconds timeout = kNoBound,
                           base::Location where = base::Location::here());

  // Adds a fact to the report: rank.note("device", "cuda:0").
  void note(std::string_view key, std::string_view value);

  const distrun_rank& line() const noexcept { return line_; }  // the C interface, for the SDK
  // Used by the SDK: the results of this rank's checks, and its errors.
  detail::Tally& tally() noexcept { return tally_; }
  // Sets what suite() returns. Called by the SDK.
  void use_suite(SuiteFixture* suite) noexcept { suite_ = suite; }

 private:
  [[noreturn]] void refuse_suite() const;

  const distrun_rank& line_;
  Parameters parameters_;
  detail::Tally tally_;
  SuiteFixture* suite_ = nullptr;
};

// Returns the rank that this thread works for. Throws Error{Failed} outside a test.
Rank& this_rank();

// Binds the calling thread to a rank while it lives. Needed if ranks are threads of one process; otherwise all threads
// are bound already. Also applies to the thread's use of the runtime (waits, futures, RPC, random numbers).
class RankBinding {
 public:
  // `rank` must outlive the binding.
  explicit RankBinding(Rank& rank) noexcept;
  RankBinding(const RankBinding&) = delete;
  RankBinding& operator=(const RankBinding&) = delete;
  ~RankBinding();

 private:
  Rank* before_;
  void (*unbind_)(std::int32_t) = nullptr;  // null: an older distrun
  std::int32_t bound_before_ = -1;
  bool binds_runtime_ = false;
  void* runtime_before_ = nullptr;  // what the thread was bound to
};

// Ends the test on this rank as skipped; the test is skipped if every rank skips. Not allowed in tear_down; after a
// failed check the test still fails.
[[noreturn]] void skip(std::string reason);
// Skips by a name of the skip table ("no_cuda"), with its code and text. Throws Error{InvalidArgument} if unknown.
[[noreturn]] void skip_as(std::string_view table_name);

}  // namespace distrun
