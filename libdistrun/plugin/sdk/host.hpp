#pragma once
// What a suite's fixture knows in the host: the process for what a suite does once, outside its
// ranks. Checks, distrun::skip() and seeds work there as they do in a rank.
#include <cstdint>
#include <string_view>

#include <distrun/plugin/sdk/context.hpp>

namespace distrun {

class Host {
 public:
  // `line` and `suite` must outlive it.
  Host(const distrun_rank& line, std::string_view suite) : rank_(line, {}), suite_(suite) {}

  std::string_view run_id() const noexcept { return rank_.run_id(); }
  std::string_view suite() const noexcept { return suite_; }
  // Shared with the suite's ranks, whose suite_dir() it is; removed after the suite's last test.
  std::string_view temp_dir() const noexcept { return rank_.temp_dir(); }
  int world_size() const noexcept { return rank_.world_size(); }  // as --world-size says
  int gpus() const noexcept { return rank_.gpus(); }
  std::string_view backend() const noexcept { return rank_.backend(); }
  std::string_view agent() const noexcept { return rank_.agent(); }
  std::string_view gpu_driver() const noexcept { return rank_.gpu_driver(); }
  std::uint64_t shared_seed() const noexcept { return rank_.shared_seed(); }

  // What the suite's ranks read with setting(key). In set_up_host only. Throws
  // Error{InvalidArgument} over 1000 keys or 1 MiB of keys and values.
  void set(std::string_view key, std::string_view value, base::Location where = base::Location::here());
  // A fact for the report.
  void note(std::string_view key, std::string_view value) { rank_.note(key, value); }

  // For the SDK: checks of the host belong to it, as those of a rank to the rank.
  Rank& as_rank() noexcept { return rank_; }

 private:
  Rank rank_;
  std::string_view suite_;
};

}  // namespace distrun
