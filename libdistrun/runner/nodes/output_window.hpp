#pragma once
// The output of a world's ranks on its way from their nodes to the reader, for as long as it is shown while they run.
//
// A node sends at most kOutputWindow bytes, and one piece more, that the coordinator has not confirmed; then it stops
// reading the pipes, and its ranks block when they are full. The coordinator confirms what the reader has taken. So a
// reader that is too slow slows the ranks down, nothing is dropped, memory is bounded on both sides, and other frames,
// such as the answers to pings, wait behind no more than a window. Lives on: the loop of its side.
#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <vector>

#include <distrun/runner/nodes/messages.hpp>
#include <distrun/runner/proc/capture.hpp>

namespace distrun::nodes {

inline constexpr std::uint64_t kOutputWindow = 256 << 10;
inline constexpr std::size_t kOutputPieceMax = 64 << 10;  // bytes

// On a node.
class OutputSender {
 public:
  struct Handlers {
    std::function<void(OutputPiece piece)> send;
    std::function<void(bool hold)> hold;  // stops reading output, or resumes it
  };
  OutputSender(std::uint32_t world, Handlers handlers) : world_(world), handlers_(std::move(handlers)) {}

  // Sends output, or keeps it until the window opens. May call `hold`.
  void add(int rank, launch::Stream stream, std::string_view bytes);
  // Opens the window by the bytes that the coordinator has confirmed. Throws Error{InvalidArgument} for more than were
  // sent.
  void confirm(std::uint64_t bytes);
  // Calls `on_sent` once all is sent: now, or in confirm().
  void when_sent(std::function<void()> on_sent);

 private:
  void send_some();

  const std::uint32_t world_;
  const Handlers handlers_;
  std::uint64_t unconfirmed_ = 0;
  std::deque<OutputPiece> kept_;  // what was read although reading was to stop: when the ranks have ended
  bool holds_ = false;
  std::function<void()> on_sent_;
};

// On the coordinator.
class OutputReceiver {
 public:
  struct Handlers {
    std::function<void(const OutputPiece& piece)> pass_on;  // to the reader; may call hold()
    std::function<void(int node, std::uint64_t bytes)> confirm;
  };
  explicit OutputReceiver(Handlers handlers) : handlers_(std::move(handlers)) {}

  // Takes a piece of a node's ranks. Throws Error{InvalidArgument} if the node must not send it.
  void take(int node, OutputPiece piece);
  // Holds what arrives back, or lets it go on; that calls no handler before pass_on() does.
  void hold(bool hold) noexcept { holds_ = hold; }
  // Passes on what is held back no longer.
  void pass_on();
  // Nothing is held back from now on.
  void end_holds() noexcept { may_hold_ = false; }

 private:
  struct FromNode {
    std::uint64_t unconfirmed = 0;
    std::uint64_t passed = 0;  // of these
  };
  bool is_held() const noexcept { return holds_ && may_hold_; }

  const Handlers handlers_;
  std::map<int, FromNode> nodes_;
  std::deque<std::pair<int, OutputPiece>> held_;  // with its node
  bool holds_ = false;
  bool may_hold_ = true;
};

}  // namespace distrun::nodes
