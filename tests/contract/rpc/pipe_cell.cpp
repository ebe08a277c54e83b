#include "pipe_cell.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <memory>

#include <agents/pipe/handshake.hpp>
#include <distrun/common/base/error.hpp>
#include <distrun/common/base/thread.hpp>
#include <distrun/runtime/rpc/calls/call.hpp>
#include <distrun/runtime/rpc/functions/register.hpp>
#include <distrun/runtime/rpc/session/session.hpp>
#include <distrun/runtime/store/file_store.hpp>
#include <distrun/runtime/tensor/ops.hpp>

#include "open_things.hpp"
#include "points.hpp"
#include "struck_agent.hpp"
#include "support/scratch.hpp"

namespace distrun::rpc::testing {
namespace {

using namespace std::chrono_literals;

enum Rank { kCaller, kPeer, kOther, kAll };
constexpr std::size_t kLarge = std::size_t{8} << 20;
constexpr std::size_t kPart = std::size_t{1} << 20;

// Returns one byte more than what is written before the Welcome.
std::size_t after_challenge() {
  return agents::pipe::pack(
             agents::pipe::Challenge{std::string(proof::kNonceSize, 'n'), std::string(proof::kProofSize, 'p')})
             .size() +
         1;
}

int pipe_echo(int number) {
  reach(Point::RunsCall);
  return number;
}
DISTRUN_RPC(pipe_echo)
std::int64_t take_text(const std::string& text) { return static_cast<std::int64_t>(text.size()); }
DISTRUN_RPC(take_text)
std::string give_text(int) { return std::string(kLarge, 'x'); }
DISTRUN_RPC(give_text)

Tensor sevens() { return tensor::full({static_cast<std::int64_t>(kLarge)}, 7, {DType::U8}); }
bool are_sevens(const Tensor& tensor) {
  const auto* const bytes = tensor.data();
  const auto count = static_cast<std::size_t>(tensor.numel());
  return count == kLarge && std::all_of(bytes, bytes + count, [](std::byte each) { return each == std::byte{7}; });
}
bool take_tensor(const Tensor& tensor) { return are_sevens(tensor); }
DISTRUN_RPC(take_tensor)
Tensor give_tensor(int) { return sevens(); }
DISTRUN_RPC(give_tensor)

void check(bool is_right) {
  if (!is_right) throw Error(ErrorKind::Failed, "the answer is wrong");
}
Destination worker(Rank rank) { return to("worker" + std::to_string(rank)).within(kCallLimit); }

void leave() { rpc::shutdown({.graceful = false}); }

}  // namespace

void PipeCell::init(int rank, int world_size, const char* part) const {
  auto options = std::make_shared<PipeOptions>();
  options->transports = {transport};
  options->channels = {"inline", "ring"};
  if (state == State::CmaTensor || state == State::CmaReply) options->channels.push_back("cma");
  options->init_timeout = std::chrono::duration<double>(kPatience).count();
  options->store = std::make_shared<PrefixStore>(part, std::make_shared<FileStore>(folder + "/store"));
  init_rpc({"worker" + std::to_string(rank), struck_backend(), rank, world_size, options});
}

// Runs on the thread that reaches the point. If the fault would wait for that thread, the main thread executes it.
void PipeCell::strike(const Post& post, bool may_block) const {
  const bool is_greeting = state <= State::WelcomeSent;
  switch (fault) {
    case PeerFault::Killed: ::raise(SIGKILL); return;
    case PeerFault::Stopped: ::raise(SIGSTOP); return;
    case PeerFault::Closes: return may_block ? leave() : post.order_itself('c');
    case PeerFault::Cut: return cut_sockets();
    case PeerFault::Junk: return is_shm() && !is_greeting ? write_junk_over_rings() : write_junk_to_sockets();
  }
}

void PipeCell::arm_greeting(const Post& post) const {
  const auto strikes = [this, post] { strike(post, false); };
  if (state == State::Connecting) arm(Point::Accepts, strikes);
  if (state == State::OpeningSent) arm(Point::ReadsGreeting, strikes);
  if (state == State::ProofSent) arm(Point::HasGreeted, strikes);
  if (state == State::WelcomeSent) arm(Point::HasGreeted, strikes, after_challenge());
}

void PipeCell::arm_message(const Post& post) const {
  const auto strikes = [this, post] { strike(post, false); };
  if (is_shm()) find_rings();
  switch (state) {
    case State::HalfMessage:
    case State::RingTensor: return is_shm() ? arm_ring(Ring::Reads, strikes) : arm(Point::HasReceived, strikes, kPart);
    case State::HalfReply: return is_shm() ? arm_ring(Ring::Writes, strikes) : arm(Point::HasSent, strikes, kPart);
    case State::RequestSent: return arm(Point::RunsCall, strikes);
    case State::CmaTensor: return arm(Point::ReadsMemory, strikes);
    default: return;
  }
}

void PipeCell::be_peer(const Post& post) const {
  arm_greeting(post);
  init(kPeer, kAll, "cell");
  post.tell("at init");
  for (;;) {
    switch (post.wait()) {
      case 'a':
        arm_message(post);
        post.tell("armed");
        break;
      case 's':
        if (state == State::LeaveSent) leave();
        if (state != State::LeaveSent || fault != PeerFault::Closes) strike(post, true);
        post.tell("struck");
        break;
      case 'c': leave(); break;
      default: return;
    }
  }
}

void PipeCell::be_other(const Post& post) const {
  init(1, 2, "warm");
  post.meet("at warm");
  leave();
  init(kOther, kAll, "cell");
  post.meet("at init");
}

void PipeCell::call_peer() const {
  switch (state) {
    case State::HalfMessage:
      return check(rpc_sync(worker(kPeer), take_text, std::string(kLarge, 'x')) == static_cast<std::int64_t>(kLarge));
    case State::HalfReply: return check(rpc_sync(worker(kPeer), give_text, 0).size() == kLarge);
    case State::RingTensor:
    case State::CmaTensor: return check(rpc_sync(worker(kPeer), take_tensor, sevens()));
    case State::CmaReply: return check(are_sevens(rpc_sync(worker(kPeer), give_tensor, 0)));
    default: return check(rpc_sync(worker(kPeer), pipe_echo, 3) == 3);
  }
}

void PipeCell::be_caller(const Post& post) const {
  init(0, 2, "warm");
  check(rpc_sync(to("worker1").within(kCallLimit), pipe_echo, 1) == 1);
  post.meet("at warm");
  leave();
  for (const base::TimePoint until = in(2s); look_at_open().threads > 1 && base::system_clock().now() < until;) {
    (void)::poll(nullptr, 0, 1);
  }
  const Open before = settled_open();
  init(kCaller, kAll, "cell");
  check(rpc_sync(worker(kOther), pipe_echo, 1) == 1);
  if (state >= State::Idle) check(rpc_sync(worker(kPeer), pipe_echo, 1) == 1);
  post.meet("at init");
  if (state == State::CmaReply) arm(Point::ReadsMemory, [&] { post.meet("strike"); });
  // Meanwhile, calls to the other peer.
  std::string other;
  base::Thread beside("beside", [&] {
    other = timed("other", [] {
      for (int i = 0; i < 50; ++i) check(rpc_sync(worker(kOther), pipe_echo, i) == i);
    });
  });
  post.tell(timed("call", [&] { call_peer(); }));
  beside.join();
  post.tell(other);
  post.tell(timed("again", [] { check(rpc_sync(worker(kPeer), pipe_echo, 5) == 5); }));
  leave();
  const Open after = what_is_open(before);
  post.tell("open|0|" + (after <= before ? "no more than before" : after.text() + "; before: " + before.text()));
}

Lines PipeCell::conduct() const {
  Lines told;
  Member other([&](const Post& post) { be_other(post); });
  Member caller([&](const Post& post) {
    const std::string came = what_comes_of([&] { be_caller(post); });
    if (came != "done") post.tell("caller|0|" + came);
  });
  Member peer([&](const Post& post) { be_peer(post); });
  const auto come = [&](Member& member, const char* point) { return member.lines_up_to(point, "", told); };
  if (!come(other, "at warm") || !come(caller, "at warm")) return told;
  caller.go_on(), other.go_on();
  if (!come(other, "at init") || !come(peer, "at init") || !come(caller, "at init")) return told;
  if (state >= State::Idle) {
    peer.go_on('a');
    if (!come(peer, "armed")) return told;
  }

  const auto strike_now = [&] {
    peer.go_on('s');
    fault == PeerFault::Killed || fault == PeerFault::Stopped ? void(peer.wait_struck()) : void(come(peer, "struck"));
  };
  if (is_strike_ordered() && state != State::CmaReply) strike_now();
  caller.go_on();
  if (state == State::CmaReply) {
    if (!come(caller, "strike")) return told;
    strike_now();
    caller.go_on();
  }
  if (fault == PeerFault::Stopped && peer.wait_struck()) {
    (void)::poll(nullptr, 0, static_cast<int>(kPause / 1ms));
    ::kill(peer.pid(), SIGCONT);
  }
  come(caller, "the end");
  told.push_back("peer|0|" + peer.end());
  return told;
}

}  // namespace distrun::rpc::testing
