#pragma once
// What a TcpStore and its server say to each other. First, as they stand:
//
//   client   kMagic (8 bytes), the run's secret (kSecretSize bytes, zeros behind it)
//   server   kWelcome (8 bytes), its process id (4 bytes); whoever begins otherwise, or not within five seconds, is
//            dropped without a word
//
// and then frames (common/wire/frame.hpp). A client may have several requests under way; answers come when they are
// ready. Who does not want to wait any longer cancels its request, and is told whether it was done all the same: what a
// queue gave is not lost. Who goes away takes its requests along.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/store/request.hpp>

namespace distrun::stores {

inline constexpr std::string_view kMagic = "dstore-1";
inline constexpr std::string_view kWelcome = "dstore+2";
inline constexpr std::size_t kWelcomeSize = 8 + sizeof(std::int32_t);
inline constexpr std::size_t kSecretSize = 64;
inline constexpr std::size_t kHelloSize = 8 + kSecretSize;

// What a client sends first. Throws Error{InvalidArgument} for a secret that is too long.
std::string hello(std::string_view secret);

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
