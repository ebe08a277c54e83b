#pragma once
// The protocol of a TcpStore and its server. First the handshake (proof/proof.hpp), as it stands:
//
//   client   kClientMagic, its nonce
//   server   kServerMagic, its nonce, its proof
//   client   its proof, once it has checked the server's
//   server   kWelcome, its process id (4 bytes); or kRefusal, if the proof is wrong
//
// The magics name the version, and stay what they are but for its digit. To a client of another version the server
// sends its magic, and closes the connection. A peer that begins otherwise is dropped without an answer at the first
// byte that is wrong. All of it may take five seconds on the server, and ten on the client.
//
// Then come frames (common/wire/frame.hpp). A client may have several requests under way; answers come when they are
// ready. Who does not want to wait any longer cancels its request, and is told whether it was done all the same: what a
// queue gave is not lost. Who goes away takes its requests along.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/proof/proof.hpp>
#include <distrun/runtime/store/request.hpp>

namespace distrun::stores {

inline constexpr std::string_view kProofProtocol = "distrun-store-3";
inline constexpr std::string_view kClientMagic = "dstore-3";
inline constexpr std::string_view kServerMagic = "dstore+3";
inline constexpr std::size_t kMagicSize = 8;
inline constexpr std::size_t kVersionAt = 7;  // of both
inline constexpr std::size_t kHelloSize = kMagicSize + proof::kNonceSize;
inline constexpr std::size_t kAnswerSize = kMagicSize + proof::kNonceSize + proof::kProofSize;
inline constexpr char kWelcome = 'y';
inline constexpr char kRefusal = 'n';

enum class StoreFrame : std::uint16_t {
  Ask = 128,
  FollowKey = 129,
  Cancel = 130,
  Answer = 132,
  Refusal = 133,
  Changed = 134,
};
inline bool is_known(StoreFrame kind) noexcept {
  return (kind >= StoreFrame::Ask && kind <= StoreFrame::Cancel) ||
         (kind >= StoreFrame::Answer && kind <= StoreFrame::Changed);
}

struct Ask {
  std::uint64_t id = 0;
  std::int64_t patience_ns = 0;  // how long it waits for keys
  Request request;
};
DISTRUN_FIELDS(Ask, m.id, m.patience_ns, m.request)

// Of a request that waits: it is refused. Of another: nothing more comes than its answer.
struct Cancel {
  std::uint64_t id = 0;
};
DISTRUN_FIELDS(Cancel, m.id)

struct Answer {
  std::uint64_t id = 0;
  Reply reply;
};
DISTRUN_FIELDS(Answer, m.id, m.reply)

// The error that the client's call throws.
struct Refusal {
  std::uint64_t id = 0;
  base::ErrorKind kind = base::ErrorKind::Failed;
  std::string type;
  std::string text;
};
DISTRUN_FIELDS(Refusal, m.id, m.kind, m.type, m.text)

// From the answer to it on, which has the id 0, the connection is told of changes of the key.
struct FollowKey {
  std::string key;
};
DISTRUN_FIELDS(FollowKey, m.key)

struct Changed {
  std::string key;
  std::optional<std::string> before;
  std::optional<std::string> after;
};
DISTRUN_FIELDS(Changed, m.key, m.before, m.after)

}  // namespace distrun::stores
