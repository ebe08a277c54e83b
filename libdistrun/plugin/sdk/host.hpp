#pragma once
// The context of a suite's fixture in the host, the process that does a suite's one-time work outside of its ranks.
// Checks, distrun::skip() and seeds work as in a rank.
#include <cstdint>
#include <string_view>

#include <distrun/plugin/sdk/context.hpp>

namespace distrun {

// A suite's host, for SuiteFixture::set_up_host() and tear_down_host(). Thread-safe.
class Host {
 public:
  // `line` and `suite` must outlive it.
  Host(const distrun_rank& line, std::string_view suite) : rank_(line, {}), suite_(suite) {}

  // of the run, for names of things that need cleaning up
  std::string_view run_id() const noexcept { return rank_.run_id(); }
  std::string_view suite() const noexcept { return suite_; }  // the suite's name
  // Returns the directory that suite_dir() of the suite's ranks returns; removed after the suite's last test.
  std::string_view temp_dir() const noexcept { return rank_.temp_dir(); }
  int world_size() const noexcept { return rank_.world_size(); }               // of --world-size
  int gpus() const noexcept { return rank_.gpus(); }                           // --gpus
  std::string_view backend() const noexcept { return rank_.backend(); }        // --backend
  std::string_view agent() const noexcept { return rank_.agent(); }            // --agent
  std::string_view gpu_driver() const noexcept { return rank_.gpu_driver(); }  // --gpu-driver
  std::uint64_t shared_seed() const noexcept { return rank_.shared_seed(); }   // that of the ranks

  // Sets what the suite's ranks read with setting(key). Only in set_up_host. Throws Error{InvalidArgument} beyond 1000
  // keys or 1 MiB of keys and values.
  void set(std::string_view key, std::string_view value, base::Location where = base::Location::here());
  // Adds a fact to the report.
  void note(std::string_view key, std::string_view value) { rank_.note(key, value); }

  // Used by the SDK: checks of the host count for it as a rank's count for the rank.
  Rank& as_rank() noexcept { return rank_; }

 private:
  Rank rank_;
  std::string_view suite_;
};

}  // namespace distrun
