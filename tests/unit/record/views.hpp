#pragma once
// States of ranks on the board, as in a snapshot.
#include <string>
#include <utility>
#include <vector>

#include <distrun/runner/record/record.hpp>

namespace distrun::runner::views {

inline constexpr std::int64_t kSecond = 1'000'000'000;
inline constexpr std::int64_t kNow = 100 * kSecond;

// In its body for 3 s, without a wait.
inline RankView in_body(int rank) {
  RankView view;
  view.rank = rank;
  view.shown.emplace();
  view.shown->pid = 4700 + rank;
  view.shown->body_tid = view.shown->pid;
  view.shown->phase = wire::Phase::Body;
  view.shown->phase_since_ns = kNow - 3 * kSecond;
  return view;
}

// Adds a wait for all of `peers` inside the existing waits. `tid` 0: in its body.
inline RankView waits(RankView view, board::WaitKind kind, const std::string& name, std::vector<int> peers = {},
                      std::uint64_t id = 0, int tid = 0) {
  board::ShownWait& wait = view.shown->waits.emplace_back();
  wait.kind = kind;
  wait.name = name;
  wait.id = id;
  wait.rule = peers.empty() ? board::PeerRule::None : board::PeerRule::All;
  wait.peers = std::move(peers);
  wait.tid = tid == 0 ? view.shown->body_tid : tid;
  wait.in_body = tid == 0;
  wait.since_ns = kNow - 2 * kSecond;
  return view;
}

inline RankView in_wait(int rank, board::WaitKind kind, const std::string& name, std::vector<int> peers = {},
                        std::uint64_t id = 0) {
  return waits(in_body(rank), kind, name, std::move(peers), id);
}

// A barrier of four ranks.
inline RankView in_barrier(int rank, const std::string& name) {
  std::vector<int> peers;
  for (int peer = 0; peer < 4; ++peer) {
    if (peer != rank) peers.push_back(peer);
  }
  return in_wait(rank, board::WaitKind::Barrier, name, std::move(peers));
}

// Adds a call of another rank that runs in the thread `tid`.
inline RankView runs(RankView view, const std::string& name, std::uint64_t id, int caller, int tid) {
  view = waits(std::move(view), board::WaitKind::Handler, name, {caller}, id, tid);
  view.shown->waits.back().rule = board::PeerRule::None;
  return view;
}

}  // namespace distrun::runner::views
