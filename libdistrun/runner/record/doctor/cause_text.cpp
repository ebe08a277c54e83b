#include <distrun/runner/record/doctor/cause_text.hpp>

#include <algorithm>
#include <utility>

#include <distrun/common/base/text.hpp>
#include <distrun/runner/evidence/stacks/frame_name.hpp>

namespace distrun::runner {
namespace {

using base::RankHosts;

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

// Returns "4711 (sleep)".
std::string process_text(const ChainLink& link) {
  return std::to_string(link.pid) + (link.command.empty() ? "" : " (" + link.command + ")");
}

// Returns "4711 (sleep) on node02".
std::string process_on_host(const ChainLink& link) {
  return process_text(link) + (link.host.empty() ? "" : " on " + link.host);
}

// Returns "rank 2", "process 4711 (sleep)" or "child 4711 (sleep) of rank 2".
std::string owner(const ChainLink& link, const RankHosts& hosts) {
  if (!link.ranks.empty()) return hosts.label(link.ranks);
  if (link.of_rank < 0) return "process " + process_on_host(link);
  return "child " + process_text(link) + " of " + hosts.label(link.of_rank);
}

std::string who(const ChainLink& link, const RankHosts& hosts) {
  return link.thread.empty() ? owner(link, hosts) : thread_text(link.tid, link.thread) + " of " + owner(link, hosts);
}

// Returns "its thread 4712 (worker)" or "its main thread" if the step before is of the same process, which is no rank.
std::string who(const ChainLink& link, const ChainLink* before, const RankHosts& hosts) {
  const bool is_of_same = before != nullptr && link.ranks.empty() && before->ranks.empty() && link.pid == before->pid &&
                          link.host == before->host;
  if (!is_of_same) return who(link, hosts);
  return link.thread.empty() ? "its main thread" : "its " + thread_text(link.tid, link.thread);
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

bool is_round(const HangCause& cause) { return cause.chain.size() > 1 && cause.chain.back().does.empty(); }

std::string also(const HangCause& cause) {
  const bool is_one = cause.ranks.size() <= 1 && (!is_round(cause) || cause.kind == HangKind::SelfDeadlock);
  return cause.victims.empty()
             ? ""
             : "; " + cause.hosts.label(cause.victims) + (cause.victims.size() == 1 ? " waits" : " wait") + " for " +
                   (is_one ? "it" : "them");
}

// Returns the name of what the link waits in, for the sentence about its culprit: "in barrier \"x\"".
std::string waits_in(const ChainLink& link) {
  const std::size_t at = link.does.find("waits ");
  return at == std::string::npos ? "" : " " + link.does.substr(at + 6);
}

// Returns ": rank 1 in all_reduce of a, rank 0 in all_reduce of b" for ranks that do not call the same.
std::string in_which(const HangCause& cause) {
  std::string text;
  if (cause.kind != HangKind::MismatchedCollective && cause.kind != HangKind::CollectiveOrder) return text;
  for (std::size_t i = 0; i + 1 < cause.chain.size(); ++i) {
    text += (i == 0 ? ": " : ", ") + who(cause.chain[i], cause.hosts) + waits_in(cause.chain[i]);
  }
  return text;
}

// Returns "4711 (train)" for each process of the cycle that is no rank, in the order of the chain.
std::vector<std::string> processes_of(const HangCause& cause) {
  std::vector<std::string> processes;
  for (const ChainLink& link : cause.chain) {
    const std::string process = link.ranks.empty() ? process_on_host(link) : "";
    const bool is_known = std::find(processes.begin(), processes.end(), process) != processes.end();
    if (!process.empty() && !is_known) processes.push_back(process);
  }
  return processes;
}

// Returns "ranks 0-1", "threads of rank 0", "threads of process 4711 (train)", "processes 4711 (a) and 4712 (b)" or
// "rank 0 and process 4712 (b)".
std::string members_of(const HangCause& cause) {
  const std::vector<std::string> processes = processes_of(cause);
  if (cause.ranks.size() + processes.size() < 2) return "threads of " + owner(cause.chain.front(), cause.hosts);
  std::string text = cause.ranks.empty() ? "" : cause.hosts.label(cause.ranks);
  for (std::size_t i = 0; i < processes.size(); ++i) {
    text += text.empty() ? "" : i + 1 == processes.size() ? " and " : ", ";
    if (i == 0) text += processes.size() == 1 ? "process " : "processes ";
    text += processes[i];
  }
  return text;
}

// Returns "rank 1 waits in barrier \"there\", but ranks 0, 2-3 wait in barrier \"here\"".
std::string but_others(const HangCause& cause) {
  std::string text;
  std::vector<int> rest = cause.victims;
  for (std::size_t i = 0; i + 1 < cause.chain.size(); ++i) {
    const ChainLink& link = cause.chain[i];
    text += (i == 0 ? "" : i == 1 ? ", but " : ", and ") + who(link, cause.hosts) + " " + for_number(link);
    std::erase_if(rest, [&](int rank) { return std::count(link.ranks.begin(), link.ranks.end(), rank) > 0; });
  }
  if (rest.empty()) return text;
  return text + "; " + cause.hosts.label(rest) + (rest.size() == 1 ? " waits" : " wait") + " for them";
}

// Returns "; its thread 4712 (worker) waits for it", of a process that is no rank.
std::string waits_too(const HangCause& cause) {
  if (cause.chain.size() < 2) return "";
  const ChainLink& waiter = cause.chain[cause.chain.size() - 2];
  return "; " + who(waiter, &cause.chain.back(), cause.hosts) + " waits for it";
}

std::string sentence_of(const HangCause& cause) {
  if (cause.chain.empty()) return "no rank was seen";
  if (is_round(cause)) {
    if (cause.kind == HangKind::SelfDeadlock) {
      return who(cause.chain.front(), cause.hosts) + " " + does(cause.chain.front()) + ", which only it can end" +
             also(cause);
    }
    if (cause.kind == HangKind::MismatchedCollective && !cause.victims.empty()) return but_others(cause);
    return members_of(cause) + " wait for each other" + in_which(cause) + also(cause);
  }
  const ChainLink& last = cause.chain.back();
  const std::string text = who(last, cause.hosts) + " " + does(last);
  if (cause.victims.empty()) return text + (cause.ranks.empty() ? waits_too(cause) : "");
  const bool wait_alike = cause.chain.size() > 1 && cause.chain[cause.chain.size() - 2].ranks == cause.victims;
  return text + also(cause) + (wait_alike ? waits_in(cause.chain[cause.chain.size() - 2]) : "");
}

}  // namespace

std::string sentence_text(const HangCause& cause) { return base::one_line(sentence_of(cause), kLineMax); }

std::string verdict_text(const HangCause& cause) {
  std::string text = title_of(cause.kind);
  if (cause.kind != HangKind::Unknown) text += std::string(" (") + name_of(cause.certainty) + ")";
  return base::one_line(text + ": " + sentence_of(cause), kLineMax);
}

std::string chain_text(const HangCause& cause) {
  if (cause.chain.size() < 2) return "";
  std::string text;
  bool is_clause = true;  // the next link is the subject of a sentence
  const ChainLink* before = nullptr;
  for (const ChainLink& link : cause.chain) {
    text += who(link, std::exchange(before, &link), cause.hosts);
    if (!link.does.empty()) text += (is_clause ? " " : ", which ") + does(link);
    text += link.leads;
    is_clause = link.leads == ": ";
  }
  return base::one_line(text, kLineMax);
}

std::string observation_text(const HangCause& cause) {
  return is_round(cause) ? chain_text(cause) : sentence_text(cause);
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
  if (cause.rank >= 0) text += (has_thread ? " of " : "") + cause.hosts.label(cause.rank);
  if (cause.rank < 0 && cause.pid != 0) text += (has_thread ? " of process " : "process ") + std::to_string(cause.pid);
  if (cause.lasted.count() > 0) text += "; the wait has lasted " + base::human(cause.lasted);
  return base::one_line(text, kLineMax);
}

std::array<std::string, 3> cause_text(const HangCause& cause) {
  return {verdict_text(cause), chain_text(cause), look_text(cause)};
}

}  // namespace distrun::runner
