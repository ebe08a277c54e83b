#include <distrun/runner/record/doctor/cause_text.hpp>

#include <algorithm>

#include <distrun/common/base/rank_list.hpp>
#include <distrun/common/base/text.hpp>
#include <distrun/runner/evidence/stacks/frame_name.hpp>

namespace distrun::runner {
namespace {

constexpr std::size_t kLineMax = 500;
constexpr std::size_t kFunctionMax = 80;

// Returns "a deadlock", to name the cause.
const char* title_of(HangKind kind) {
  switch (kind) {
    case HangKind::Deadlock: return "deadlock";
    case HangKind::SelfDeadlock: return "self-deadlock";
    case HangKind::HeldLock: return "lock not released";
    case HangKind::MissingRank: return "missing rank";
    case HangKind::MismatchedCollective: return "different collectives";
    case HangKind::CollectiveOrder: return "different order of groups";
    case HangKind::UnsentMessage: return "nothing sent";
    case HangKind::LostNotification: return "lost notification";
    case HangKind::FullOrEmptyChannel: return "channel without progress";
    case HangKind::Child: return "child that does not exit";
    case HangKind::Stopped: return "stopped";
    case HangKind::Traced: return "traced";
    case HangKind::StuckInKernel: return "stuck in the kernel";
    case HangKind::Spinning: return "spinning";
    case HangKind::Livelock: return "livelock";
    case HangKind::StarvedPool: return "starved pool";
    case HangKind::DeviceWait: return "device wait";
    case HangKind::NotStarted: return "not started";
    case HangKind::StuckAtExit: return "stuck at exit";
    case HangKind::Slow: return "slow";
    case HangKind::Unknown: return "unknown cause";
  }
  return "unknown cause";
}

std::string thread_text(std::int32_t tid, const std::string& name) {
  const std::string called = name.empty() || name == "thread" ? "" : " (" + name + ")";
  return "thread " + std::to_string(tid) + called;
}

std::string who(const ChainLink& link) {
  if (link.ranks.empty()) {
    const std::string name = link.thread.empty() ? "" : " (" + link.thread + ")";
    return "process " + std::to_string(link.pid) + name;
  }
  const std::string ranks = base::ranks_label(link.ranks);
  return link.thread.empty() ? ranks : thread_text(link.tid, link.thread) + " of " + ranks;
}

bool is_several(const ChainLink& link) { return link.ranks.size() > 1; }

// Returns the words for several ranks: "waits in x" becomes "wait in x".
std::string for_number(const ChainLink& link) {
  if (!is_several(link)) return link.does;
  const std::size_t end = std::min(link.does.find(' '), link.does.size());
  const std::string verb = link.does.substr(0, end);
  const std::string plural = verb == "is"    ? "are"
                             : verb == "has" ? "have"
                                             : verb.substr(0, verb.size() - (verb.ends_with('s') ? 1 : 0));
  return plural + link.does.substr(end);
}

// Returns "train.cpp:88".
std::string site(const CodePlace& place) {
  if (place.file.empty()) return "";
  return std::string(evidence::file_of_path(place.file)) + ":" + std::to_string(place.line);
}

std::string in_brackets(const CodePlace& place) {
  const std::string at = site(place);
  return at.empty() ? "" : " (" + at + ")";
}

std::string does(const ChainLink& link) { return for_number(link) + in_brackets(link.place); }

std::string also(const HangCause& cause) {
  return cause.victims.empty()
             ? ""
             : "; " + base::ranks_label(cause.victims) + (cause.victims.size() == 1 ? " waits" : " wait") + " for " +
                   (cause.ranks.size() > 1 ? "them" : "it");
}

// Returns the name of what the link waits in, for the sentence about its culprit: "in barrier \"x\"".
std::string waits_in(const ChainLink& link) {
  const std::size_t at = link.does.find("waits ");
  return at == std::string::npos ? "" : " " + link.does.substr(at + 6);
}

bool is_round(const HangCause& cause) { return cause.chain.size() > 1 && cause.chain.back().does.empty(); }

// Returns ": rank 1 in barrier \"there\", ranks 0, 2-3 in barrier \"here\"" for ranks that do not call the same.
std::string in_which(const HangCause& cause) {
  std::string text;
  if (cause.kind != HangKind::MismatchedCollective && cause.kind != HangKind::CollectiveOrder) return text;
  for (std::size_t i = 0; i + 1 < cause.chain.size(); ++i) {
    text += (i == 0 ? ": " : ", ") + who(cause.chain[i]) + waits_in(cause.chain[i]);
  }
  return text;
}

std::string sentence_of(const HangCause& cause) {
  if (cause.chain.empty()) return "no rank was seen";
  if (is_round(cause)) {
    if (cause.kind == HangKind::SelfDeadlock) {
      return who(cause.chain.front()) + " " + does(cause.chain.front()) + ", which only it can end" + also(cause);
    }
    const bool is_inside = cause.ranks.size() < 2;
    const std::string of = cause.ranks.empty() ? "" : "threads of " + base::ranks_label(cause.ranks);
    const std::string all = is_inside ? (of.empty() ? "processes" : of) : base::ranks_label(cause.ranks);
    return all + " wait for each other" + in_which(cause) + also(cause);
  }
  const ChainLink& last = cause.chain.back();
  std::string text = who(last) + " " + does(last);
  if (cause.chain.size() > 1 && !cause.victims.empty()) {
    const ChainLink& waiter = cause.chain[cause.chain.size() - 2];
    return text + also(cause) + (waiter.ranks == cause.victims ? waits_in(waiter) : "");
  }
  return text + also(cause);
}

}  // namespace

std::string verdict_text(const HangCause& cause) {
  std::string text = title_of(cause.kind);
  if (cause.kind != HangKind::Unknown) text += std::string(" (") + name_of(cause.certainty) + ")";
  return base::one_line(text + ": " + sentence_of(cause), kLineMax);
}

std::string chain_text(const HangCause& cause) {
  if (cause.chain.size() < 2) return "";
  std::string text;
  bool is_clause = true;  // the next link is the subject of a sentence
  for (const ChainLink& link : cause.chain) {
    text += who(link);
    if (!link.does.empty()) text += (is_clause ? " " : ", which ") + does(link);
    text += link.leads;
    is_clause = link.leads == ": ";
  }
  return base::one_line(text, kLineMax);
}

std::string look_text(const HangCause& cause) {
  std::string text = "look at ";
  const std::string at = site(cause.place);
  const std::string function =
      cause.place.function.empty() ? "" : evidence::short_name(cause.place.function, kFunctionMax);
  text += at.empty() ? function : at + (function.empty() ? "" : " (" + function + ")");
  if (!at.empty() || !function.empty()) text += ", ";
  const bool has_thread = !cause.thread.empty();
  if (has_thread) text += "thread " + cause.thread;
  if (cause.rank >= 0) text += (has_thread ? " of " : "") + base::ranks_label({cause.rank});
  if (cause.rank < 0 && cause.pid != 0) text += (has_thread ? " of process " : "process ") + std::to_string(cause.pid);
  if (cause.lasted.count() > 0) text += "; the wait has lasted " + base::human(cause.lasted);
  return base::one_line(text, kLineMax);
}

std::array<std::string, 3> cause_text(const HangCause& cause) {
  return {verdict_text(cause), chain_text(cause), look_text(cause)};
}

}  // namespace distrun::runner
