#include <distrun/runner/nodes/rank_news.hpp>

#include <utility>

namespace distrun::nodes {
namespace {

constexpr auto kLookPeriod = std::chrono::milliseconds(100);
constexpr auto kReadPeriod = std::chrono::seconds(1);  // of /proc, for a process that does not run
// CPU times are sent in steps, so that a rank that hardly runs sends nothing.
constexpr std::int64_t kCpuStep = 1'000'000;

std::int64_t rounded(base::Nanoseconds time) { return time.count() / kCpuStep * kCpuStep; }

}  // namespace

RankNews::RankNews(io::Loop& loop, const launch::World& world, int first, int count,
                   std::function<void(std::vector<RankView>)> tell)
    : loop_(loop),
      world_(world),
      first_(first),
      told_(static_cast<std::size_t>(count)),
      tell_(std::move(tell)),
      due_(loop, [this] {
        begin();
        this->tell(false);
      }) {}

void RankNews::begin() { due_.set_after(kLookPeriod); }

void RankNews::tell_now() { tell(true); }

RankView RankNews::view_of(int rank) { return look(rank, true); }

std::vector<RankView> RankNews::views() {
  std::vector<RankView> all;
  for (std::size_t i = 0; i < told_.size(); ++i) all.push_back(look(first_ + static_cast<int>(i), true));
  return all;
}

RankView RankNews::look(int rank, bool is_forced) {
  Told& before = told_.at(static_cast<std::size_t>(rank - first_));
  RankView view;
  view.rank = rank;
  view.shown = world_.shown(rank);
  if (!before.has_crash) view.crash = world_.crash(rank);
  before.has_crash = before.has_crash || (view.crash && view.crash->complete);
  const base::Nanoseconds cpu_time = world_.cpu_time(rank);
  const base::TimePoint now = loop_.clock().now();
  if (is_forced || cpu_time != before.cpu_time || now - before.read_at >= kReadPeriod) {
    before.cpu_time = cpu_time;
    before.read_at = now;
    before.cpu_wait_ns = rounded(world_.cpu_wait(rank));
    before.process = world_.process_state(rank);
  }
  view.cpu_time_ns = rounded(cpu_time);
  view.cpu_wait_ns = before.cpu_wait_ns;
  view.process = before.process;
  return view;
}

void RankNews::tell(bool is_forced) {
  std::vector<RankView> changed;
  for (std::size_t i = 0; i < told_.size(); ++i) {
    RankView view = look(first_ + static_cast<int>(i), is_forced);
    wire::Bytes encoded = wire::encode(view);
    if (encoded == told_[i].view) continue;
    told_[i].view = std::move(encoded);
    changed.push_back(std::move(view));
  }
  if (!changed.empty()) tell_(std::move(changed));
}

}  // namespace distrun::nodes
