#include <distrun/runner/record/snapshot.hpp>

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <tuple>

#include <distrun/common/base/text.hpp>
#include <distrun/common/board/describe.hpp>
#include <distrun/runner/evidence/stacks/merge.hpp>
#include <distrun/runner/evidence/stacks/tree_text.hpp>

namespace distrun::runner {
namespace {

const RankView* find_view(const std::vector<RankView>& views, int rank) {
  const auto view = std::find_if(views.begin(), views.end(), [rank](const RankView& v) { return v.rank == rank; });
  return view == views.end() || !view->shown ? nullptr : &*view;
}

// Returns whether ranks meet there under one name and wait for absent ones.
bool is_meeting(board::WaitKind kind) {
  return kind == board::WaitKind::Barrier || kind == board::WaitKind::Collective;
}

const board::ShownWait* wait_in_same(const RankView& view, const board::ShownWait& wait) {
  const auto same = std::find_if(view.shown->waits.begin(), view.shown->waits.end(), [&](const auto& other) {
    return other.kind == wait.kind && other.name == wait.name && other.id == wait.id;
  });
  return same == view.shown->waits.end() ? nullptr : &*same;
}

// Returns the rank with the process in "lock of process 4711: model.bin"; none if ranks share the process. Processes of
// several hosts may have this number.
std::vector<int> holder(const std::vector<RankView>& views, const std::string& name, const std::string& host,
                        const base::RankHosts& hosts) {
  constexpr std::string_view kHeldBy = "lock of process ";
  if (!name.starts_with(kHeldBy)) return {};
  const int pid = std::atoi(name.c_str() + kHeldBy.size());
  std::vector<int> ranks;
  for (const RankView& view : views) {
    if (view.shown && view.shown->pid == pid && hosts.of(view.rank) == host) ranks.push_back(view.rank);
  }
  return ranks.size() == 1 ? ranks : std::vector<int>{};
}

std::string for_how_long(std::int64_t since_ns, std::int64_t now_ns) {
  return since_ns > 0 && since_ns < now_ns ? " for " + base::human(Nanoseconds(now_ns - since_ns)) : "";
}

// Describes what the callee does for the call: runs it and possibly waits itself, or has not begun.
std::string there(const std::vector<RankView>& views, int caller, const board::ShownWait& wait, std::int64_t now_ns,
                  const base::RankHosts& hosts) {
  if (wait.kind != board::WaitKind::RpcReply || wait.peers.size() != 1 || wait.id == 0) return "";
  const int callee = wait.peers.front();
  const RankView* const view = find_view(views, callee);
  if (view == nullptr) return "";
  const auto handler = std::find_if(view->shown->waits.begin(), view->shown->waits.end(), [&](const auto& each) {
    return each.kind == board::WaitKind::Handler && each.id == wait.id && each.peers == std::vector<int>{caller};
  });
  const std::string rank = hosts.label(callee);
  if (handler == view->shown->waits.end()) return rank + " is not running it";
  const std::string since = for_how_long(handler->since_ns, now_ns);
  const std::string text = rank + (since.empty() ? " is running it" : " has been running it" + since);
  const board::ShownWait* const inner = board::wait_of_thread(*view->shown, *handler);
  if (inner == nullptr) return text;
  const std::string site = board::site_of(*inner);
  return text + ", waiting in " + board::describe(*inner, hosts) + (site.empty() ? "" : " (" + site + ")");
}

std::string named(const board::ShownWait& wait) {
  const std::string site = board::site_of(wait);
  return name_of_wait(wait) + (site.empty() ? "" : " (" + site + ")");
}

WaitLine line_of(const std::vector<RankView>& views, const RankView& view, std::int64_t now_ns,
                 const base::RankHosts& hosts) {
  WaitLine line;
  line.hosts = hosts;
  line.ranks = {view.rank};
  line.phase = view.shown->phase;
  const board::ShownWait* wait = board::main_wait(*view.shown);
  const std::int64_t since = wait != nullptr ? wait->since_ns : view.shown->phase_since_ns;
  if (since > 0 && since < now_ns) line.longest = Nanoseconds(now_ns - since);
  if (wait == nullptr) {
    if (!view.shown->operations.empty()) line.last = board::describe(view.shown->operations.back(), hosts);
    return line;
  }
  line.what = named(*wait);
  line.awaited = awaited(views, view.rank, *wait, hosts);
  line.any = wait->rule == board::PeerRule::Any;
  if (wait->deadline_ns != 0) line.left = Nanoseconds(wait->deadline_ns - now_ns);
  line.there = there(views, view.rank, *wait, now_ns, hosts);
  return line;
}

auto identity(const WaitLine& line) { return std::tie(line.what, line.awaited, line.any, line.phase); }

constexpr std::size_t kErrorLinesMax = 8;

// Adds the errors of one rank, or of all.
void add_errors(std::vector<evidence::Line>& lines, const Snapshot& snapshot, int rank = -1) {
  const std::vector<ErrorLine> errors = error_lines(snapshot.ranks);
  for (std::size_t i = 0; i < errors.size() && i < kErrorLinesMax; ++i) {
    const std::vector<int>& ranks = errors[i].ranks;
    if (rank >= 0 && std::find(ranks.begin(), ranks.end(), rank) == ranks.end()) continue;
    lines.emplace_back().add(evidence::Tone::Plain, describe(errors[i], snapshot.hosts));
  }
}

}  // namespace

std::vector<int> awaited(const std::vector<RankView>& views, int rank, const board::ShownWait& wait,
                         const base::RankHosts& hosts) {
  if (wait.peers.empty()) return holder(views, wait.name, hosts.of(rank), hosts);
  if (wait.rule != board::PeerRule::All || !is_meeting(wait.kind)) return wait.peers;
  std::vector<int> absent;
  std::vector<int> waiting;  // there, for ranks other than this one
  for (const int peer : wait.peers) {
    const RankView* const view = find_view(views, peer);
    const board::ShownWait* const same = view == nullptr ? nullptr : wait_in_same(*view, wait);
    if (same == nullptr) {
      absent.push_back(peer);
    } else if (std::find(same->peers.begin(), same->peers.end(), rank) == same->peers.end()) {
      waiting.push_back(peer);
    }
  }
  return absent.empty() ? waiting : absent;
}

std::string name_of_wait(const board::ShownWait& wait) {
  board::ShownWait bare = wait;
  bare.peers.clear();
  return board::describe(bare);
}

bool is_stopped_by_signal(const wire::ThreadStack& thread) noexcept {
  return static_cast<char>(thread.task.state) == 'T';
}

std::vector<WaitLine> wait_lines(const std::vector<RankView>& views, std::int64_t now_ns,
                                 const base::RankHosts& hosts) {
  std::vector<WaitLine> lines;
  for (const RankView& view : views) {
    if (!view.shown) continue;
    WaitLine line = line_of(views, view, now_ns, hosts);
    const auto like = std::find_if(lines.begin(), lines.end(),
                                   [&](const WaitLine& other) { return identity(other) == identity(line); });
    if (like == lines.end()) {
      lines.push_back(std::move(line));
    } else {
      like->ranks.push_back(view.rank);
      if (like->last != line.last) like->last.clear();
      if (like->there != line.there) like->there.clear();
      like->longest = std::max(like->longest, line.longest);
      if (line.left) like->left = std::min(*line.left, like->left.value_or(*line.left));
    }
  }
  std::stable_sort(lines.begin(), lines.end(), [](const WaitLine& a, const WaitLine& b) {
    return std::make_tuple(!a.what.empty(), a.ranks.size()) < std::make_tuple(!b.what.empty(), b.ranks.size());
  });
  return lines;
}

std::vector<ErrorLine> error_lines(const std::vector<RankView>& views) {
  std::vector<ErrorLine> lines;
  for (const RankView& view : views) {
    if (!view.shown) continue;
    for (const std::string& text : view.shown->errors) {
      const auto like =
          std::find_if(lines.begin(), lines.end(), [&](const ErrorLine& line) { return line.text == text; });
      if (like == lines.end()) {
        lines.push_back({{view.rank}, text});
      } else if (like->ranks.back() != view.rank) {
        like->ranks.push_back(view.rank);
      }
    }
  }
  return lines;
}

std::string describe(const ErrorLine& line, const base::RankHosts& hosts) {
  return hosts.label(line.ranks) + ": unseen error: " + base::one_line(line.text);
}

std::string wait_text(const WaitLine& line) {
  if (line.what.empty()) return "";
  std::string text = line.what;
  if (!line.awaited.empty()) {
    text += line.any && line.awaited.size() > 1 ? " for any of " : " for ";
    text += line.hosts.label(line.awaited);
  }
  if (line.left) text += line.left->count() > 0 ? ", " + base::human(*line.left) + " left" : ", past its deadline";
  return line.there.empty() ? text : text + "; " + line.there;
}

std::string describe(const WaitLine& line) {
  const bool one = line.ranks.size() == 1;
  std::string text = line.hosts.label(line.ranks);
  const std::string since = line.longest.count() > 0 ? " for " + base::human(line.longest) : "";
  if (line.what.empty()) {
    const bool is_body = line.phase == wire::Phase::Body;
    text += std::string(one ? " has been" : " have been") +
            (is_body ? " running the test body" : std::string(" in ") + name_of(line.phase)) + since +
            " (no wait recorded)";
    return line.last.empty() ? text : text + "; " + (one ? "its" : "their") + " last operation was " + line.last;
  }
  return text + (one ? " has waited" : " have waited") + since + " in " + wait_text(line);
}

Snapshot only(int rank, Snapshot snapshot) {
  std::erase_if(snapshot.stacks.processes,
                [rank](const evidence::Process& each) { return each.rank != rank && each.of_rank != rank; });
  // The waits of other ranks are still needed, to know which ranks are in the same barrier.
  std::vector<evidence::Line> lines;
  for (const WaitLine& line : wait_lines(snapshot.ranks, snapshot.at_ns, snapshot.hosts)) {
    if (std::find(line.ranks.begin(), line.ranks.end(), rank) == line.ranks.end()) continue;
    lines.emplace_back().add(evidence::Tone::Plain, describe(line));
  }
  add_errors(lines, snapshot, rank);
  snapshot.ranks.clear();
  std::vector<evidence::Line> stacks = describe(snapshot);
  std::move(stacks.begin(), stacks.end(), std::back_inserter(lines));
  snapshot.text = std::move(lines);
  return snapshot;
}

std::vector<evidence::Line> describe(const Snapshot& snapshot) {
  std::vector<evidence::Line> lines;
  for (const WaitLine& line : wait_lines(snapshot.ranks, snapshot.at_ns, snapshot.hosts)) {
    lines.emplace_back().add(line.what.empty() ? evidence::Tone::Strong : evidence::Tone::Plain, describe(line));
  }
  add_errors(lines, snapshot);
  for (evidence::Line& line : evidence::tree_text(snapshot.stacks, evidence::merge(snapshot.stacks))) {
    lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace distrun::runner
