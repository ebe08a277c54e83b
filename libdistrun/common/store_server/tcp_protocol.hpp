#pragma once
// The protocol of a TcpStore and its server. First comes the handshake (proof/listener_greeting.hpp), as raw bytes; the
// client is its connector, and the server sends its process id (4 bytes) behind the welcome. The server closes the
// connection of a client that has another version, and drops any other peer at the first wrong byte. The handshake
// may take five seconds on the server and ten on the client.
//
// Then come frames (common/wire/frame.hpp). A client may have several requests in flight; answers come when they are
// ready. A client that does not want to wait any longer cancels its request, and the answer says whether it was done
// nevertheless, so that an element from a queue is not lost. Disconnecting cancels a client's requests.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <distrun/common/proof/listener_greeting.hpp>
#include <distrun/common/store_server/request.hpp>
#include <distrun/common/wire/error_fields.hpp>

namespace distrun::stores {

using proof::kAnswerSize;
using proof::kHelloSize;
using proof::kMagicSize;
using proof::kRefusal;
using proof::kWelcome;

inline constexpr proof::Protocol kHandshake{"distrun-store-3", "dstore-3", "dstore+3"};

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
  std::int64_t patience_ns = 0;  // how long the request waits for keys: what is left of the timeout
  std::int64_t timeout_ns = 0;   // as the caller gave it, for the error
  Request request;
};
DISTRUN_FIELDS(Ask, m.id, m.patience_ns, m.timeout_ns, m.request)

// Cancels a request that waits: the server refuses it. If the request was answered already, nothing else is sent.
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
  wire::ErrorFields error;
};
DISTRUN_FIELDS(Refusal, m.id, m.error)

// Requests notifications of changes of the key, from the answer on. The answer has the id 0.
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
