#pragma once
// What is asked of a table of keys, and answered: by a call, in a file's log, over a socket.
#include <cstdint>
#include <string>
#include <vector>

#include <distrun/common/wire/codec.hpp>

namespace distrun::stores {

// Of the wire: numbers stay what they are.
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
// Whether it may change the table.
bool is_change(Op op) noexcept;

struct Request {
  Op op = Op::Set;
  std::vector<std::string> keys;
  std::vector<std::string> values;  // as many as keys; of CompareSet expected and desired; of QueuePush 1 or more
  std::int64_t number = 0;          // of Add
};
DISTRUN_FIELDS(Request, m.op, m.keys, m.values, m.number)

struct Reply {
  bool is_ready = true;  // else nothing was done: a key is not there yet
  std::vector<std::string> values;
  std::int64_t number = 0;
};
DISTRUN_FIELDS(Reply, m.is_ready, m.values, m.number)

}  // namespace distrun::stores
