#pragma once
// What programs write, shown while they run: whole lines, each behind the name of its rank, standard error on standard
// error. The bytes of a line go out as they came, since users want their colours.
//
// A line waits for its end. One that has been still for half a second (a prompt), or is longer than 64 KiB, goes out
// as far as it has come, and stays open: what follows continues it, unless another rank has written meanwhile.
// Lives on: the coordinator's loop. Waits for nobody but in finish().
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <distrun/common/base/clock.hpp>
#include <distrun/runner/launch/output_sink.hpp>
#include <distrun/runner/report/files/outlet.hpp>

namespace distrun::report {

struct LiveOptions {
  int world_size = 1;
  bool prefix = true;
  std::array<bool, 2> color{};  // by launch::Stream
};

class LiveOutput final : public launch::OutputSink {
 public:
  static constexpr std::size_t kLineMax = 64U << 10U;
  static constexpr std::size_t kPendingMax = 1U << 20U;  // what may wait for a reader before ranks do

  // The descriptors are not owned; `clock` must outlive it. If both are the same file, the order of what is written
  // is kept across them.
  LiveOutput(int out, int err, const LiveOptions& options, const base::Clock& clock);

  void on_output(int rank, launch::Stream stream, std::string_view bytes) override;
  bool is_full() override;
  // Somebody has written since a reader went away (head, say): as without distrun, that is a reason to end.
  bool has_lost_reader() const noexcept;
  // To be called about ten times a second.
  void tick();
  // Writes what is left, and waits until it is out. What could not be shown; empty: nothing.
  std::string finish();

 private:
  struct Source {
    std::string partial;  // of a line that has no end yet, and has not been shown
    base::TimePoint touched{};
  };
  struct Target {
    Outlet outlet;
    int open = -1;  // the source whose line has been shown without its end
  };
  Source& source(int index) { return sources_[static_cast<std::size_t>(index)]; }
  Target& target_of(int index) { return err_ && index % 2 == 1 ? *err_ : out_; }
  std::string prefix(int index) const;
  // Whole lines, and the rest to the partial one.
  void take(int index, std::string_view bytes, std::string& shown);
  void show_partial(int index);
  std::string closing(Target& target) const;

  LiveOptions options_;
  const base::Clock& clock_;
  std::vector<Source> sources_;  // rank * 2 + stream
  Target out_;
  std::optional<Target> err_;  // none: the same as out_
};

}  // namespace distrun::report
