#pragma once
// Requests to a table of keys and their replies: from a call, in a file's log, over a socket.
#include <cstdint>
#include <string>
#include <vector>

#include <distrun/common/wire/codec.hpp>

namespace distrun::stores {

// Used on the wire: the numbers must not change.
enum class Op : std::uint8_t {
  Set = 0,
  CompareSet = 1,
  Get = 2,
  Add = 3,
  Check = 4,
  Wait = 5,
  NumKeys = 6,
  Delete = 7,
  Append = 8,
  MultiGet = 9,
  MultiSet = 10,
  QueuePush = 11,
  QueuePop = 12,
  TryQueuePop = 13,
  QueueLength = 14,
};
const char* name_of(Op op) noexcept;  // "compare_set"
// Returns whether the operation may change the table.
bool is_change(Op op) noexcept;

struct Request {
  Op op = Op::Set;
  std::vector<std::string> keys;
  std::vector<std::string> values;  // as many as keys; CompareSet: expected and desired; QueuePush: at least 1
  std::int64_t number = 0;          // for Add
};
DISTRUN_FIELDS(Request, m.op, m.keys, m.values, m.number)

struct Reply {
  bool is_ready = true;  // false: a key does not exist yet, and nothing was done
  std::vector<std::string> values;
  std::int64_t number = 0;
};
DISTRUN_FIELDS(Reply, m.is_ready, m.values, m.number)

}  // namespace distrun::stores
