#include <distrun/runner/nodes/output_window.hpp>

#include <algorithm>
#include <utility>

#include <distrun/common/base/error.hpp>

namespace distrun::nodes {
namespace {

// A confirmation for each piece would cost more than it helps. Less than what keeps a node from sending.
constexpr std::uint64_t kConfirmedAtOnce = kOutputWindow / 4;

}  // namespace

void OutputSender::add(int rank, launch::Stream stream, std::string_view bytes) {
  for (; !bytes.empty(); bytes.remove_prefix(std::min(bytes.size(), kOutputPieceMax))) {
    kept_.push_back({world_, rank, stream, std::string(bytes.substr(0, kOutputPieceMax))});
  }
  send_some();
}

void OutputSender::confirm(std::uint64_t bytes) {
  if (bytes > unconfirmed_) throw Error(ErrorKind::InvalidArgument, "more output was confirmed than was sent");
  unconfirmed_ -= bytes;
  send_some();
}

void OutputSender::send_some() {
  while (!kept_.empty() && unconfirmed_ < kOutputWindow) {
    OutputPiece piece = std::move(kept_.front());
    kept_.pop_front();
    unconfirmed_ += piece.bytes.size();
    handlers_.send(std::move(piece));
  }
  const bool must_hold = unconfirmed_ >= kOutputWindow;
  const bool may_read = kept_.empty() && unconfirmed_ <= kOutputWindow / 2;
  if (holds_ ? may_read : must_hold) {
    holds_ = !holds_;
    handlers_.hold(holds_);
  }
  if (kept_.empty() && on_sent_) std::exchange(on_sent_, {})();
}

void OutputSender::when_sent(std::function<void()> on_sent) {
  on_sent_ = std::move(on_sent);
  send_some();
}

void OutputReceiver::take(int node, OutputPiece piece) {
  FromNode& from = nodes_[node];
  const std::size_t size = piece.bytes.size();
  if (size == 0 || size > kOutputPieceMax || from.unconfirmed >= kOutputWindow) {
    throw Error(ErrorKind::InvalidArgument, "output beyond the window of a node");
  }
  from.unconfirmed += size;
  held_.emplace_back(node, std::move(piece));
  pass_on();
}

void OutputReceiver::pass_on() {
  while (!held_.empty() && !is_held()) {
    const auto [node, piece] = std::move(held_.front());
    held_.pop_front();
    handlers_.pass_on(piece);
    FromNode& from = nodes_[node];
    from.passed += piece.bytes.size();
    if (from.passed < kConfirmedAtOnce) continue;
    const std::uint64_t bytes = std::exchange(from.passed, 0);
    from.unconfirmed -= bytes;
    handlers_.confirm(node, bytes);
  }
}

}  // namespace distrun::nodes
