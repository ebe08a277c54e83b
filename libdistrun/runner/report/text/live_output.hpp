#pragma once
// Shows the output of ranks while they run: whole lines, each after the name of its rank, standard error on standard
// error or on the same outlet. Bytes are not changed, to keep the ranks' colours.
//
// A line is held back until it is complete. If it has been idle for half a second (a prompt) although the reader keeps
// up, or is longer than 64 KiB, it is shown unfinished and stays open: further text continues it, unless another rank
// has written meanwhile. Lives on: the coordinator's loop. Blocks only in finish().
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
  bool prefix = true;
  std::array<bool, 2> color{};  // by launch::Stream
};

class LiveOutput final : public launch::OutputSink {
 public:
  static constexpr std::size_t kLineMax = 64U << 10U;
  static constexpr std::size_t kPendingMax = 1U << 20U;  // bytes that may be pending before ranks are slowed down

  // Null for `err`: standard error is shown on `out`, too, and the order is kept. All must outlive this object.
  LiveOutput(Outlet& out, Outlet* err, const LiveOptions& options, const base::Clock& clock);

  void on_output(int rank, launch::Stream stream, std::string_view bytes) override;
  bool is_full() override;
  // Returns true after a write to a reader that has gone away (such as head): as without distrun, a reason to end.
  bool has_lost_reader() const noexcept;
  // Call about ten times a second.
  void tick();
  // Further output comes from ranks that are threads of one process: it is not known which of them writes.
  void from_one_process(bool is_so) noexcept { one_process_ = is_so; }
  // Names the host before further lines of the rank; empty: it runs on this machine.
  void set_host(int rank, const std::string& host);
  // Shows the rest, and ends unfinished lines: the ranks have ended.
  void end_lines();
  // Does so and blocks until it is out. Returns a description of lost output; empty: nothing was lost.
  std::string finish();

 private:
  struct Source {
    std::string partial;  // of an unfinished line that has not been shown
    base::TimePoint touched{};
  };
  struct Target {
    Outlet& outlet;
    int open = -1;  // the source of the line that is shown unfinished
  };
  Source& source(int index);
  Target& target_of(int index) { return err_ && index % 2 == 1 ? *err_ : out_; }
  std::string prefix(int index) const;
  // Appends whole lines to `shown`, and the rest to the partial line.
  void take(int index, std::string_view bytes, std::string& shown);
  void show_partial(int index);
  std::string closing(Target& target) const;

  LiveOptions options_;
  bool one_process_ = false;
  const base::Clock& clock_;
  std::vector<Source> sources_;     // rank * 2 + stream
  std::vector<std::string> hosts_;  // by rank, as far as one runs on another machine
  Target out_;
  base::TimePoint full_at_{};  // when ranks had to wait for the reader
  std::optional<Target> err_;  // empty: it is shown on out_
};

}  // namespace distrun::report
