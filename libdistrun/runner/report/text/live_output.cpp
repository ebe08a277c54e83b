#include <distrun/runner/report/text/live_output.hpp>

#include <algorithm>
#include <cerrno>

#include <distrun/common/base/error.hpp>

namespace distrun::report {
namespace {

constexpr base::Milliseconds kStill{500};
// A pager that takes nothing for this long is considered abandoned.
constexpr base::Milliseconds kLivePatience = std::chrono::minutes(10);

// Cyan, yellow, green, magenta, blue, and their bright variants; red is reserved for failures.
constexpr std::array<const char*, 10> kColors{"36", "33", "32", "35", "34", "96", "93", "92", "95", "94"};

std::string failure_of(const Outlet& outlet, bool is_out) {
  const std::string stream = is_out ? "standard output" : "standard error";
  const std::string lost = std::to_string(outlet.lost()) + " bytes of the ranks' output were dropped";
  if (outlet.error() != EPIPE) return "cannot write " + stream + ": " + base::errno_text(outlet.error()) + ": " + lost;
  return "the reader of " + stream + " is gone (" + base::errno_text(outlet.error()) + "): " + lost +
         "; use --per-rank-log DIR to keep all output";
}

}  // namespace

LiveOutput::LiveOutput(Outlet& out, Outlet* err, const LiveOptions& options, const base::Clock& clock)
    : options_(options), clock_(clock), out_{out} {
  if (err != nullptr) err_.emplace(Target{*err});
}

LiveOutput::Source& LiveOutput::source(int index) {
  const auto place = static_cast<std::size_t>(index);
  if (place >= sources_.size()) sources_.resize(place + 1);
  return sources_[place];
}

// First resets any colour that a rank's text has left on.
std::string LiveOutput::prefix(int index) const {
  if (!options_.prefix) return "";
  const auto rank = static_cast<std::size_t>(index / 2);
  const std::string host = rank < hosts_.size() && !hosts_[rank].empty() ? " on " + hosts_[rank] : "";
  const std::string name = one_process_ ? "[ranks]" : "[rank " + std::to_string(rank) + host + "]";
  if (!options_.color[static_cast<std::size_t>(index % 2)]) return name + " ";
  return std::string("\x1b[0;") + kColors[rank % kColors.size()] + "m" + name + "\x1b[0m ";
}

void LiveOutput::set_host(int rank, const std::string& host) {
  const auto place = static_cast<std::size_t>(rank);
  if (place >= hosts_.size() && host.empty()) return;
  if (place >= hosts_.size()) hosts_.resize(place + 1);
  hosts_[place] = host;
}

// Ends an open line.
std::string LiveOutput::closing(Target& target) const {
  const bool open = target.open >= 0;
  target.open = -1;
  return open ? "\n" : "";
}

void LiveOutput::on_output(int rank, launch::Stream stream, std::string_view bytes) {
  const int index = rank * 2 + (stream == launch::Stream::Err ? 1 : 0);
  Target& target = target_of(index);
  std::string shown;
  if (target.open == index) {
    const std::size_t end = bytes.find('\n');
    shown = bytes.substr(0, end == std::string_view::npos ? bytes.size() : end + 1);
    bytes.remove_prefix(shown.size());
    if (end != std::string_view::npos) target.open = -1;
  }
  take(index, bytes, shown);
  if (!shown.empty()) target.outlet.write(shown);
  if (source(index).partial.size() >= kLineMax) show_partial(index);
}

void LiveOutput::take(int index, std::string_view bytes, std::string& shown) {
  Source& from = source(index);
  from.touched = clock_.now();
  for (std::size_t end = bytes.find('\n'); end != std::string_view::npos; end = bytes.find('\n')) {
    shown += closing(target_of(index)) + prefix(index) + from.partial;
    shown += bytes.substr(0, end + 1);
    from.partial.clear();
    bytes.remove_prefix(end + 1);
  }
  from.partial += bytes;
}

void LiveOutput::show_partial(int index) {
  Target& target = target_of(index);
  target.outlet.write(closing(target) + prefix(index) + source(index).partial);
  source(index).partial = {};
  target.open = index;
}

bool LiveOutput::is_full() {
  bool full = false;
  for (Target* target : {&out_, err_ ? &*err_ : nullptr}) {
    if (target == nullptr) continue;
    target->outlet.flush();
    full = full || target->outlet.pending() > kPendingMax;
  }
  if (full) full_at_ = clock_.now();
  return full;
}

bool LiveOutput::has_lost_reader() const noexcept {
  return out_.outlet.error() == EPIPE || (err_ && err_->outlet.error() == EPIPE);
}

// While ranks wait for a slow reader, the rest of their lines cannot come, and a moment later it may still be on its
// way: these are no prompts.
void LiveOutput::tick() {
  is_full();
  const base::TimePoint now = clock_.now();
  for (std::size_t i = 0; i < sources_.size(); ++i) {
    const base::TimePoint idle_since = std::max(sources_[i].touched, full_at_);
    if (!sources_[i].partial.empty() && now - idle_since >= kStill) show_partial(static_cast<int>(i));
  }
  is_full();
}

void LiveOutput::end_lines() {
  for (std::size_t i = 0; i < sources_.size(); ++i) {
    if (!sources_[i].partial.empty()) show_partial(static_cast<int>(i));
  }
  out_.outlet.write(closing(out_));
  if (err_) err_->outlet.write(closing(*err_));
}

std::string LiveOutput::finish() {
  end_lines();
  std::string failure;
  for (Target* target : {&out_, err_ ? &*err_ : nullptr}) {
    if (target == nullptr) continue;
    target->outlet.drain(kLivePatience);
    if (target->outlet.error() != 0) failure = failure_of(target->outlet, target == &out_);
  }
  return failure;
}

}  // namespace distrun::report
