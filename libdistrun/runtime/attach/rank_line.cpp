#include <distrun/runtime/attach/rank_line.hpp>

#include <chrono>
#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include <distrun/common/base/process_mark.hpp>
#include <distrun/runtime/core/wait.hpp>

namespace distrun::runtime {
namespace {

board::ShownWait shown(const distrun_wait& wait) {
  board::ShownWait shown;
  shown.kind = board::wait_kind(wait.kind);
  shown.name = keep(wait.name);
  shown.id = wait.id;
  shown.rule = board::peer_rule(wait.peer_rule);
  for (int rank = 0; rank < static_cast<int>(wait.peer_words * 64); ++rank) {
    if ((wait.peers[rank / 64] >> (rank % 64) & 1) != 0) shown.peers.push_back(rank);
  }
  shown.in_body = wait.in_body != 0;
  shown.since_ns = wait.since_ns;
  shown.deadline_ns = wait.deadline_ns;
  shown.file = wait.file;
  shown.line = wait.line;
  return shown;
}

board::ShownOperation shown(const distrun_operation& operation) {
  return {operation.number, board::wait_kind(operation.kind), keep(operation.name), operation.id, operation.peer,
          operation.at_ns};
}

board::Shown shown(const distrun_peer& peer) {
  board::Shown all;
  all.pid = peer.pid;
  all.phase = static_cast<wire::Phase>(peer.phase);
  all.epoch = peer.epoch;
  for (const distrun_wait& each : std::span(peer.waits, peer.wait_count)) all.waits.push_back(shown(each));
  for (const distrun_operation& each : std::span(peer.operations, peer.operation_count)) {
    all.operations.push_back(shown(each));
  }
  return all;
}

std::int64_t deadline_ns(base::TimePoint deadline) noexcept {
  if (deadline == core::kForever) return 0;
  return std::chrono::duration_cast<base::Nanoseconds>(deadline.time_since_epoch()).count();
}

bool shows_errors(const distrun_rank& rank) noexcept {
  return rank.size >= offsetof(distrun_rank, error_hide) + sizeof rank.error_hide;
}

// A rank's line from its runner. Never destroyed: a thread may wait longer than its test runs. A process forked by the
// test shows nothing there: the board belongs to the parent.
class Line final : public core::RankLine {
 public:
  explicit Line(const distrun_rank& rank) noexcept : api_(rank), has_peers_(has_peers(rank)) {}

  int begin_wait(const board::WaitInfo& info, base::TimePoint deadline) noexcept override {
    if (mark_.is_inherited()) return -1;
    const auto kind = static_cast<std::int32_t>(info.kind);
    if (!has_peers_) return api_.begin(api_.waits, kind, lend(info.name), info.site.file, info.site.line);
    distrun_wait wait{};
    wait.size = sizeof wait;
    wait.abi = DISTRUN_ABI;
    wait.kind = kind;
    wait.peer_rule = static_cast<std::int32_t>(info.rule);
    wait.name = lend(info.name);
    wait.peers = info.peers.bits.data();
    wait.peer_words = info.peers.bits.size();
    wait.id = info.id;
    wait.deadline_ns = deadline_ns(deadline);
    wait.file = info.site.file;
    wait.line = info.site.line;
    return api_.begin_for(api_.waits, &wait);
  }
  void end_wait(int number) noexcept override {
    if (!mark_.is_inherited()) api_.end(api_.waits, number);
  }

  void note(board::WaitKind kind, std::string_view name, int peer, std::uint64_t id) noexcept override {
    if (!has_peers_ || mark_.is_inherited()) return;
    distrun_operation operation{};
    operation.size = sizeof operation;
    operation.abi = DISTRUN_ABI;
    operation.kind = static_cast<std::int32_t>(kind);
    operation.peer = peer;
    operation.name = lend(name);
    operation.id = id;
    api_.did(api_.waits, &operation);
  }
  void progress() noexcept override {
    if (has_peers_ && !mark_.is_inherited()) api_.progress(api_.waits);
  }

  int show_error(std::string_view text) noexcept override {
    return can_show_errors(api_.show_error) ? api_.show_error(api_.waits, lend(text)) : -1;
  }
  void hide_error(int number) noexcept override {
    if (can_show_errors(api_.hide_error)) api_.hide_error(api_.waits, number);
  }

  std::optional<board::Shown> look_at(int rank) const override {
    std::optional<board::Shown> seen;
    const auto take = [](void* context, const distrun_peer* peer) {
      static_cast<std::optional<board::Shown>*>(context)->emplace(shown(*peer));
    };
    if (has_peers_) api_.look(api_.waits, rank, take, &seen);
    return seen;
  }

 private:
  // The fields that are valid until the process ends.
  struct Functions {
    explicit Functions(const distrun_rank& rank) noexcept
        : waits(rank.waits), begin(rank.wait_begin), end(rank.wait_end) {
      if (!has_peers(rank)) return;
      begin_for = rank.wait_begin_for;
      did = rank.did;
      progress = rank.progress;
      look = rank.look_at_peer;
      if (!shows_errors(rank)) return;
      show_error = rank.error_show;
      hide_error = rank.error_hide;
    }

    void* waits;
    decltype(distrun_rank::wait_begin) begin;
    decltype(distrun_rank::wait_end) end;
    decltype(distrun_rank::wait_begin_for) begin_for = nullptr;
    decltype(distrun_rank::did) did = nullptr;
    decltype(distrun_rank::progress) progress = nullptr;
    decltype(distrun_rank::look_at_peer) look = nullptr;
    decltype(distrun_rank::error_show) show_error = nullptr;
    decltype(distrun_rank::error_hide) hide_error = nullptr;
  };

  template <class Function>
  bool can_show_errors(Function* function) const noexcept {
    return function != nullptr && !mark_.is_inherited();
  }

  Functions api_;
  bool has_peers_;
  const base::ProcessMark mark_;
};

}  // namespace

bool has_waits(const distrun_rank& rank) noexcept {
  return rank.size >= offsetof(distrun_rank, explain_faults) + sizeof rank.explain_faults;
}

bool has_peers(const distrun_rank& rank) noexcept {
  return rank.size >= offsetof(distrun_rank, on_peer_failed) + sizeof rank.on_peer_failed;
}

bool has_deaths(const distrun_rank& rank) noexcept {
  return rank.size >= offsetof(distrun_rank, on_peer_died) + sizeof rank.on_peer_died;
}

bool has_runs_on(const distrun_rank& rank) noexcept {
  return rank.size >= offsetof(distrun_rank, runs_on) + sizeof rank.runs_on;
}

std::unique_ptr<core::RankLine> make_rank_line(const distrun_rank& rank) { return std::make_unique<Line>(rank); }

}  // namespace distrun::runtime
