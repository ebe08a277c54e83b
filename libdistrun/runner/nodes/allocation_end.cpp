#include <distrun/runner/nodes/allocation_end.hpp>

#include <array>
#include <charconv>
#include <utility>

#include <distrun/common/base/deadline.hpp>
#include <distrun/common/base/error.hpp>

namespace distrun::nodes {
namespace {

constexpr std::int64_t kNumberMax = 1'000'000;

std::optional<std::int64_t> parse_number(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || number < 0) return std::nullopt;
  return number;
}

}  // namespace

std::optional<base::Nanoseconds> parse_time_left(std::string_view text) {
  std::int64_t days = 0;
  if (const std::size_t dash = text.find('-'); dash != text.npos) {
    const auto number = parse_number(text.substr(0, dash));
    if (!number || *number > kNumberMax) return std::nullopt;
    days = *number;
    text.remove_prefix(dash + 1);
  }
  std::int64_t seconds = 0;
  int parts = 0;
  for (std::size_t at = 0; at <= text.size(); ++parts) {
    const std::size_t colon = std::min(text.find(':', at), text.size());
    const auto number = parse_number(text.substr(at, colon - at));
    if (!number || *number > kNumberMax || parts == 3) return std::nullopt;
    seconds = seconds * 60 + *number;
    at = colon + 1;
  }
  if (parts < 2) return std::nullopt;
  return std::chrono::seconds(days * 86'400 + seconds);
}

AllocationEnd::AllocationEnd(io::Loop& loop, std::function<void(base::TimePoint end)> on_known,
                             const Variables& variables)
    : loop_(loop),
      on_known_(std::move(on_known)),
      job_(variables(variables("SLURM_JOB_ID").empty() ? "SLURM_JOBID" : "SLURM_JOB_ID")),
      known_(loop, [this] { on_known_(end_); }) {
  if (job_.empty()) return;
  if (const auto end_s = parse_number(variables("SLURM_JOB_END_TIME"))) {
    const base::Nanoseconds now(loop.clock().wall_ns());
    end_ = base::deadline_after(std::chrono::seconds(std::min(*end_s, now.count() / 1'000'000'000 + kNumberMax)) - now,
                                loop.clock().now());
    known_.set(loop.clock().now());
    return;
  }
  const std::string tasks = variables("SLURM_STEP_NUM_TASKS");
  if (tasks.empty() || tasks == "1") ask();
}

void AllocationEnd::ask() {
  asked_at_ = loop_.clock().now();
  try {
    squeue_ = std::make_unique<EngineProcess>(
        loop_, std::vector<std::string>{"squeue", "--noheader", "--jobs=" + job_, "--format=%L"}, "",
        [this] { take_answer(); });
  } catch (const Error&) {
    // Without squeue the end is not known.
  }
}

void AllocationEnd::take_answer() {
  const std::optional<base::Nanoseconds> left = parse_time_left(squeue_->last_words());
  if (!left) return;
  end_ = asked_at_ + *left;
  known_.set(loop_.clock().now());
}

}  // namespace distrun::nodes
