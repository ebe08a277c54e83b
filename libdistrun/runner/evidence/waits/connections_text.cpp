#include <distrun/runner/evidence/waits/connections_text.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <distrun/common/base/text.hpp>
#include <distrun/runner/evidence/waits/wait_edges.hpp>
#include <distrun/runner/evidence/waits/wait_text.hpp>

namespace distrun::evidence {
namespace {

constexpr std::size_t kLineMax = 600;     // bytes of one line
constexpr std::size_t kMembersShown = 8;  // of a cycle

// The threads of one process that wait in the same way, shown as one line.
struct ThreadLine {
  pid_t pid = 0;
  std::vector<const Blocked*> threads;
  std::string text;
  bool matters = false;  // includes the main thread, or a thread that waits for a process
};

std::string which_threads(const ThreadLine& line) {
  const Blocked& first = *line.threads[0];
  if (line.threads.size() == 1) {
    if (first.tid == first.pid) return "main thread";
    return "thread " + std::to_string(first.tid) + " (" + first.name + ")";
  }
  std::set<std::string> names;
  for (const Blocked* thread : line.threads) names.insert(thread->name);
  constexpr std::size_t kShown = 4;
  std::vector<std::string> words(names.begin(), names.end());
  if (words.size() > kShown) {
    words.resize(kShown);
    words.push_back(std::to_string(names.size() - kShown) + " more");
  }
  return "each of " + std::to_string(line.threads.size()) + " threads (" + joined(words) + ")";
}

class Report {
 public:
  Report(const Connections& all, const std::vector<Blocked>& blocked, std::size_t limit)
      : all_(all), blocked_(blocked), names_(all, blocked), limit_(limit), edges_(wait_edges(all, blocked)) {}

  std::vector<std::string> lines() {
    add_circles();
    add_self_waits();
    add_knot();
    add_roots();
    add_threads();
    add_shared_locks();
    add_connections();
    add_notes();
    return std::move(lines_);
  }

  std::string thread_text(const ThreadLine& line) const {
    return names_.of(line.pid) + " " + which_threads(line) + " " + line.text;
  }
  std::string text_of(const Blocked& thread) const { return wait_text(all_, names_, thread); }

 private:
  void add(const std::string& line) {
    std::size_t indent = 0;
    while (line.starts_with("  ") && indent < 2) ++indent;
    lines_.push_back(std::string(indent, ' ') + base::one_line(std::string_view(line).substr(indent), kLineMax));
  }

  // Adds up to `most` of `lines`, and says how many were omitted.
  void add_some(const std::vector<std::string>& lines, std::size_t most, const std::string& what) {
    for (std::size_t i = 0; i < lines.size() && i < most; ++i) add(lines[i]);
    if (lines.size() > most) add("  ... and " + std::to_string(lines.size() - most) + " more " + what);
  }

  std::string member_text(const WaitEdge& edge, bool with_target) const {
    std::string text = std::to_string(edge.pid) + " in " + edge.because;
    if (with_target) text += " for " + std::to_string(edge.any_of[0]);
    return text;
  }

  std::string circle_text(const std::vector<std::size_t>& cycle) const {
    std::vector<pid_t> pids;
    std::vector<pid_t> others;
    std::string members;
    for (const std::size_t index : cycle) {
      const WaitEdge& edge = edges_[index];
      pids.push_back(edge.pid);
      if (!edge.alone) others.push_back(edge.pid);
      if (pids.size() > kMembersShown) continue;
      members += (members.empty() ? "" : ", ") + member_text(edge, cycle.size() > 2);
    }
    const std::string circle = cycle.size() > 2 ? " wait for each other in a cycle: " : " wait for each other: ";
    std::string text = names_.of(pids, kMembersShown) + circle + members;
    if (others.empty()) return text;
    return text + "; other threads of " + names_.of(others) + " may still end the wait";
  }

  void add_circles() {
    std::vector<std::string> texts;
    for (const auto& cycle : wait_cycles(edges_)) {
      texts.push_back(circle_text(cycle));
      for (const std::size_t index : cycle) in_circles_.insert(edges_[index].pid);
    }
    add_some(texts, limit_ / 10, "cycles");
  }

  void add_self_waits() {
    std::vector<std::string> texts;
    for (const WaitEdge& edge : edges_) {
      if (!waits_for_itself(edge)) continue;
      const std::string who = names_.of(edge.pid) + " waits for itself in " + edge.because + ": ";
      texts.push_back(
          who + (edge.alone ? "no other process holds the other end, and it has no other thread"
                            : "no other process holds the other end; only another of its threads can end the wait"));
    }
    add_some(texts, limit_ / 10, "that wait for themselves");
  }

  // Adds nothing if the cycles already cover all of these processes.
  void add_knot() {
    const std::vector<pid_t> knot = wait_knot(edges_);
    const bool is_news = std::any_of(knot.begin(), knot.end(), [&](pid_t pid) { return !in_circles_.contains(pid); });
    if (is_news) add(names_.of(knot, kMembersShown) + " cannot continue: each waits only for others of them");
  }

  std::string doing_text(pid_t pid) const {
    if (all_.process(pid) == nullptr) return ", which was not requested";
    const auto main = std::find_if(blocked_.begin(), blocked_.end(),
                                   [&](const Blocked& thread) { return thread.pid == pid && thread.tid == pid; });
    if (main == blocked_.end()) return ", which has ended";
    const std::string text = text_of(*main);
    return "; its main thread " + text.substr(0, text.find(": "));  // the full text is shown among the threads
  }

  void add_roots() {
    std::vector<std::string> texts;
    for (const WaitRoot& root : wait_roots(edges_)) {
      const char* wait = root.waiting.size() == 1 ? " waits for " : " wait, directly or not, for ";
      texts.push_back(names_.of(root.waiting) + wait + names_.of(root.pid) + doing_text(root.pid));
    }
    add_some(texts, limit_ / 5, "such waits");
  }

  std::vector<ThreadLine> thread_lines() const {
    std::vector<ThreadLine> lines;
    std::map<std::pair<pid_t, std::string>, std::size_t> known;
    for (const Blocked& thread : blocked_) {
      const std::string text = text_of(thread);
      const auto [at, is_new] = known.try_emplace({thread.pid, text}, lines.size());
      if (is_new) lines.push_back({thread.pid, {}, text, false});
      ThreadLine& line = lines[at->second];
      line.threads.push_back(&thread);
      line.matters = line.matters || thread.tid == thread.pid || !thread.peers.empty();
    }
    return lines;
  }

  // Less important lines are moved to the end only if there are too many to show.
  void add_threads() {
    std::vector<ThreadLine> lines = thread_lines();
    const std::size_t most = limit_ / 2;
    if (lines.size() > most)
      std::stable_partition(lines.begin(), lines.end(), [](const ThreadLine& line) { return line.matters; });
    std::vector<std::string> texts;
    for (const ThreadLine& line : lines) texts.push_back(thread_text(line));
    if (!texts.empty()) add("threads");
    for (std::string& text : texts) text.insert(0, "  ");
    add_some(texts, most, "lines of threads");
  }

  // Lists locks that several processes wait for.
  void add_shared_locks() {
    std::map<std::string, std::set<pid_t>> waiting;
    std::map<std::string, std::string> locks;
    for (const Blocked& thread : blocked_) {
      if (thread.lock_key.empty() || (thread.kind != BlockKind::Futex && thread.kind != BlockKind::FileLock)) continue;
      waiting[thread.lock_key].insert(thread.pid);
      locks[thread.lock_key] = thread.lock;
    }
    std::vector<std::string> texts;
    for (const auto& [key, pids] : waiting) {
      if (pids.size() < 2) continue;
      const std::vector<pid_t> waiters(pids.begin(), pids.end());
      texts.push_back("  " + locks[key] + ": " + names_.of(waiters, kMembersShown));
    }
    if (texts.empty()) return;
    add("locks for which several processes wait");
    add_some(texts, limit_ / 10, "such locks");
  }

  // 0: a thread waits there, or data is unread; 1: between requested processes; 2: with other processes as well; 3:
  // between one requested process and others, or with an end that no process holds; 4: within one process.
  int rank(const Connection& connection, const std::set<const Connection*>& waited_for) const {
    std::set<pid_t> asked;
    bool lonely = false;
    bool strangers = false;
    bool unread = false;
    for (const Side& side : connection.sides) {
      lonely = lonely || side.ends.empty();
      unread = unread || side.to_read.value_or(0) != 0;
      for (const End& end : side.ends) {
        if (all_.process(end.pid) != nullptr)
          asked.insert(end.pid);
        else
          strangers = true;
      }
    }
    if (!lonely && !strangers && asked.size() < 2) return 4;
    if (unread || waited_for.contains(&connection)) return 0;
    if (asked.size() < 2) return 3;
    return strangers ? 2 : 1;
  }

  std::string side_text(const Connection& connection, int side) const {
    const Side& place = connection.sides[side];
    if (!place.ends.empty()) return names_.of(place.ends);
    if (connection.kind == ConnectionKind::Pipe) return "no process";
    if (side == 1 && connection.remote) return "another machine";
    return place.inode == 0 ? "closed" : "no visible process";
  }

  std::string bytes_text(const Connection& connection) const {
    std::string text;
    for (const Side& side : connection.sides) {
      if (side.to_read.value_or(0) != 0)
        text += "; " + std::to_string(*side.to_read) + " bytes are unread by " + names_.of(pids_of(side), 3);
      if (side.to_send != 0)
        text += "; " + std::to_string(side.to_send) + " bytes of " + names_.of(pids_of(side), 3) +
                " were not received by the other side";
    }
    return text;
  }

  static std::vector<pid_t> pids_of(const Side& side) {
    std::set<pid_t> pids;
    for (const End& end : side.ends) pids.insert(end.pid);
    return {pids.begin(), pids.end()};
  }

  std::string connection_text(const Connection& connection) const {
    const bool is_pipe = connection.kind == ConnectionKind::Pipe;
    const std::string ends = is_pipe ? side_text(connection, 1) + " -> " + side_text(connection, 0)
                                     : side_text(connection, 0) + " <-> " + side_text(connection, 1);
    const std::string accepted = connection.unaccepted ? ", not accepted yet" : "";
    return "  " + describe(connection) + ": " + ends + accepted + bytes_text(connection);
  }

  void add_connections() {
    std::set<const Connection*> waited_for;
    for (const Blocked& thread : blocked_) {
      for (const Watch& watch : thread.fds) {
        const Connection* connection = all_.find(thread.pid, watch.fd);
        if (connection != nullptr && !thread.polls) waited_for.insert(connection);
      }
    }
    std::vector<std::string> by_rank[4];
    for (const Connection& connection : all_.list) {
      const int place = rank(connection, waited_for);
      if (place < 4) by_rank[place].push_back(connection_text(connection));
    }
    std::vector<std::string> texts;
    for (auto& some : by_rank) texts.insert(texts.end(), some.begin(), some.end());
    if (texts.empty()) return;
    add("connections");
    const std::size_t used = lines_.size() + all_.notes.size() + 2;
    add_some(texts, limit_ > used + 10 ? limit_ - used : 10, "connections");
  }

  void add_notes() {
    std::vector<std::string> notes = all_.notes;
    if (all_.hidden != 0)
      notes.push_back("the descriptors of " + std::to_string(all_.hidden) +
                      " processes of other users cannot be read; they may hold other ends");
    if (std::any_of(blocked_.begin(), blocked_.end(), [](const Blocked& thread) { return thread.hidden; }))
      notes.push_back(
          "to see hidden data, run as root, or as the same user and, if kernel.yama.ptrace_scope is set, from a parent "
          "of the process");
    add_some(notes, 10, "notes");
  }

  const Connections& all_;
  const std::vector<Blocked>& blocked_;
  Names names_;
  std::size_t limit_;
  std::vector<WaitEdge> edges_;
  std::set<pid_t> in_circles_;
  std::vector<std::string> lines_;
};

}  // namespace

std::vector<std::string> connection_lines(const Connections& all, const std::vector<Blocked>& blocked,
                                          std::size_t limit) {
  return Report(all, blocked, limit).lines();
}

std::string describe(const Connections& all, const Blocked& blocked) {
  const std::vector<Blocked> one{blocked};
  const ThreadLine line{blocked.pid, {&blocked}, wait_text(all, Names(all, one), blocked), true};
  return base::one_line(Names(all, one).of(blocked.pid) + " " + which_threads(line) + " " + line.text, kLineMax);
}

}  // namespace distrun::evidence
