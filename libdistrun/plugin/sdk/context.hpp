#pragma once
// What a test's body knows of its rank and can do with the others. One per rank, made by the SDK,
// alive while the test runs. Every function may be called from any thread of the rank.
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

// The bound of the phase holds all the same.
inline constexpr std::chrono::milliseconds kNoBound{-1};

struct Message {
  int from = -1;
  std::string data;
};

class SuiteFixture;

class Rank {
 public:
  // `line` must outlive the context.
  Rank(const distrun_rank& line, Parameters parameters);
  Rank(const Rank&) = delete;
  Rank& operator=(const Rank&) = delete;

  int rank() const noexcept { return line_.rank; }
  int world_size() const noexcept { return line_.world_size; }
  bool is_master() const noexcept { return line_.rank == 0; }
  int attempt() const noexcept { return line_.attempt; }  // 1 for the first
  int gpus() const noexcept { return line_.gpus; }
  std::string_view worker_name() const noexcept;  // "worker2"
  std::string worker_name(int rank) const;
  std::string_view run_id() const noexcept;  // in the name of whatever should be cleaned up
  std::string_view test_id() const noexcept;
  std::string_view work_dir() const noexcept;  // this rank's own; removed after the attempt
  std::string_view temp_dir() const noexcept;  // shared by the ranks; removed after the attempt
  std::string_view backend() const noexcept;
  std::string_view agent() const noexcept;
  std::string_view gpu_driver() const noexcept;
  std::string_view init_method() const noexcept;  // "file:///..."
  const Parameters& parameters() const noexcept { return parameters_; }
  // Shared by the suite's host and all of its tests' ranks; removed after the suite's last test.
  // Empty if the suite has no code for a host.
  std::string_view suite_dir() const noexcept;
  // What the suite's host has set. Throws Error{InvalidArgument, KeyError} with the keys there are.
  std::string_view setting(std::string_view key) const;
  // This rank's fixture of the suite (plugin/sdk/suite.hpp). Throws Error{InvalidArgument} if it is no T.
  template <class T>
  T& suite() const;

  // The same on every rank for shared_seed(), another on each for seed(); both repeat with --seed.
  std::uint64_t seed() const noexcept;
  std::uint64_t shared_seed() const noexcept { return line_.seed; }

  // Returns when every living rank is in the barrier. Throws PeerFailed if a rank failed or
  // finished without coming, Error{Timeout} after `timeout`.
  void barrier(std::string_view name = "barrier", std::chrono::milliseconds timeout = kNoBound,
               base::Location where = base::Location::here());

  // Messages go through the coordinator: meant for test logic, not for bulk data. At most 16 MiB.
  // In order per sender and tag; send() doesn't wait. Throws Error{InvalidArgument} for a rank that
  // doesn't exist or a message over the limit; the others also as barrier() does.
  void send(int to, std::string_view tag, std::string_view data, base::Location where = base::Location::here());
  std::string receive(int from, std::string_view tag, std::chrono::milliseconds timeout = kNoBound,
                      base::Location where = base::Location::here());
  Message receive_from_any(std::string_view tag, std::chrono::milliseconds timeout = kNoBound,
                           base::Location where = base::Location::here());

  // A fact for the report: rank.note("device", "cuda:0").
  void note(std::string_view key, std::string_view value);

  const distrun_rank& line() const noexcept { return line_; }
  // For the SDK: what the checks and errors of this rank came to.
  detail::Tally& tally() noexcept { return tally_; }
  void use_suite(SuiteFixture* suite) noexcept { suite_ = suite; }

 private:
  [[noreturn]] void refuse_suite() const;

  const distrun_rank& line_;
  Parameters parameters_;
  detail::Tally tally_;
  SuiteFixture* suite_ = nullptr;
};

// The rank that this thread works for. Throws Error{Failed} outside a test.
Rank& this_rank();

// While it lives, the calling thread works for that rank. Needed where ranks are threads of one
// process; a process that is a rank has all its threads bound already. What the thread does with
// the runtime (waits, futures, RPC, random numbers) is that rank's, too.
class RankBinding {
 public:
  explicit RankBinding(Rank& rank) noexcept;
  RankBinding(const RankBinding&) = delete;
  RankBinding& operator=(const RankBinding&) = delete;
  ~RankBinding();

 private:
  Rank* before_;
  void (*unbind_)(std::int32_t) = nullptr;  // null: distrun is of an older build
  std::int32_t bound_before_ = -1;
  bool binds_runtime_ = false;
  void* runtime_before_ = nullptr;  // whose work the thread did
};

// Ends the test on this rank as skipped; the test is skipped if every rank says the same. Not for
// tear_down; after a failed check the test fails all the same.
[[noreturn]] void skip(std::string reason);
// By a name of the skip table ("no_cuda"), with its code and text. Throws Error{InvalidArgument}
// for another name.
[[noreturn]] void skip_as(std::string_view table_name);

}  // namespace distrun
