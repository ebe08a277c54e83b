#include <distrun/common/store_server/key_table.hpp>

#include <algorithm>
#include <charconv>
#include <utility>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/nearest.hpp>

namespace distrun::stores {
namespace {

constexpr std::size_t kKeysLookedAt = 1000;                // when similar keys are searched
constexpr std::size_t kBatchSize = std::size_t{64} << 10;  // malloc() would map a larger one each time

// Quotes a key or value for an error text, shortened: it may be long and contain any bytes.
std::string shown(const std::string& text) {
  constexpr std::size_t kShown = 80;
  return "\"" + (text.size() <= kShown ? text : text.substr(0, kShown) + "...") + "\"";
}

// Returns where the last part of a path begins. Keys that share a prefix are compared by that part only.
std::size_t stem_of(const std::string& key) {
  const std::size_t last = key.find_last_of("/:");
  return last == std::string::npos ? 0 : last + 1;
}

// Returns whether the table may be larger afterwards.
bool adds(Op op) { return is_change(op) && op != Op::Delete && op != Op::QueuePop && op != Op::TryQueuePop; }

[[noreturn]] void refuse_size(const char* what, const std::string& key, std::size_t size, std::size_t limit) {
  throw Error(ErrorKind::Overloaded, std::string(what) + " of " + std::to_string(size) + " bytes (" + shown(key) +
                                         ") exceeds the limit of " + std::to_string(limit));
}

// The constant is for what an empty value or key needs.
std::size_t cost_of(const std::string& value) { return value.size() + 64; }
std::size_t cost_of_key(const std::string& key) { return key.size() + 64; }

// Requests from outside may have any number of keys and values.
void check_shape(const Request& request) {
  const std::size_t keys = request.keys.size(), values = request.values.size();
  const auto is_of = [&](std::size_t wanted_keys, std::size_t wanted_values) {
    return keys == wanted_keys && values == wanted_values;
  };
  bool is_right = false;
  switch (request.op) {
    case Op::Set:
    case Op::Append: is_right = is_of(1, 1); break;
    case Op::QueuePush: is_right = keys == 1 && values > 0; break;
    case Op::CompareSet: is_right = is_of(1, 2); break;
    case Op::Get:
    case Op::Add:
    case Op::Delete:
    case Op::QueuePop:
    case Op::TryQueuePop:
    case Op::QueueLength: is_right = is_of(1, 0); break;
    case Op::Check:
    case Op::Wait:
    case Op::MultiGet: is_right = values == 0; break;
    case Op::MultiSet: is_right = keys == values; break;
    case Op::NumKeys: is_right = is_of(0, 0); break;
  }
  if (is_right) return;
  throw Error(ErrorKind::InvalidArgument, std::string("malformed request ") + name_of(request.op) + ": it has " +
                                              std::to_string(keys) + " keys and " + std::to_string(values) + " values");
}

std::int64_t number_in(const std::string& key, const std::string& value) {
  std::int64_t number = 0;
  const char* const end = value.data() + value.size();
  const auto parsed = std::from_chars(value.data(), end, number);
  if (parsed.ec == std::errc{} && parsed.ptr == end) return number;
  throw Error(ErrorKind::InvalidArgument, "ValueError",
              "add to " + shown(key) + ": its value " + shown(value) + " is not a number");
}

}  // namespace

const char* name_of(Op op) noexcept {
  switch (op) {
    case Op::Set: return "set";
    case Op::CompareSet: return "compare_set";
    case Op::Get: return "get";
    case Op::Add: return "add";
    case Op::Check: return "check";
    case Op::Wait: return "wait";
    case Op::NumKeys: return "num_keys";
    case Op::Delete: return "delete_key";
    case Op::Append: return "append";
    case Op::MultiGet: return "multi_get";
    case Op::MultiSet: return "multi_set";
    case Op::QueuePush: return "queue_push";
    case Op::QueuePop: return "queue_pop";
    case Op::TryQueuePop: return "try_queue_pop";
    case Op::QueueLength: return "queue_length";
  }
  return "unknown";
}

bool is_change(Op op) noexcept {
  switch (op) {
    case Op::Get:
    case Op::Check:
    case Op::Wait:
    case Op::NumKeys:
    case Op::MultiGet:
    case Op::QueueLength: return false;
    default: return true;
  }
}

std::string timeout_text(base::Nanoseconds timeout, const std::vector<std::string>& missing) {
  constexpr std::size_t kNamed = 20;
  std::string keys;
  for (std::size_t i = 0; i < missing.size() && i < kNamed; ++i) keys += (i == 0 ? "" : ", ") + missing[i];
  if (missing.size() > kNamed) keys += " and " + std::to_string(missing.size() - kNamed) + " more";
  return "wait timeout after " + base::human(timeout) + ", keys: " + keys;
}

bool KeyTable::has(const std::string& key) const { return values_.contains(key) || queues_.contains(key); }

void KeyTable::check_room(const Request& request) const {
  check_shape(request);
  std::size_t more = 0;
  if (request.keys.size() > kKeys) {
    throw Error(ErrorKind::Overloaded, "a request has " + std::to_string(request.keys.size()) + " keys, the limit is " +
                                           std::to_string(kKeys));
  }
  for (const std::string& key : request.keys) {
    if (key.size() > kKeySize) refuse_size("a key", key, key.size(), kKeySize);
  }
  for (const std::string& value : request.values) {
    if (value.size() > kValueSize) refuse_size("the value", request.keys[0], value.size(), kValueSize);
    more += cost_of(value);
  }
  if (!adds(request.op)) return;
  if (bytes_ + more > kTableSize)
    refuse_size("the total size with the value", request.keys[0], bytes_ + more, kTableSize);
  if (values_.size() + queues_.size() + request.keys.size() > kKeys && !missing(request).empty()) {
    throw Error(ErrorKind::Overloaded,
                "a store has " + std::to_string(kKeys) + " keys at most; cannot add " + shown(request.keys[0]));
  }
}

std::vector<std::string> KeyTable::missing(const Request& request) const {
  std::vector<std::string> missing;
  std::ranges::copy_if(request.keys, std::back_inserter(missing), [this](const auto& key) { return !has(key); });
  return missing;
}

std::vector<std::string> KeyTable::named_missing(const Request& request) const {
  std::vector<std::string> missing = this->missing(request);
  if (values_.size() > kKeysLookedAt) return missing;
  for (std::string& key : missing) {
    const std::size_t stem = stem_of(key);
    const std::string before = key.substr(0, stem);
    std::vector<std::string> known;
    for (const auto& [each, value] : values_) {
      if (each.starts_with(before)) known.push_back(each.substr(stem));
    }
    std::vector<std::string> found = base::nearest(std::string_view(key).substr(stem), known);
    for (std::string& each : found) each.insert(0, before);
    if (!found.empty()) key += " (did you mean " + base::joined_by_or(found) + "?)";
  }
  return missing;
}

// Operations that change the table first allocate all the memory that they need, so they happen completely or not at
// all.
Reply KeyTable::run(const Request& request, std::vector<Change>* changes) {
  check_room(request);
  if (changes != nullptr) changes->reserve(changes->size() + request.keys.size());
  Reply reply;
  switch (request.op) {
    case Op::Set:
    case Op::MultiSet: put_all(request, changes); break;
    case Op::CompareSet: return compare_set(request, changes);
    case Op::Get:
    case Op::MultiGet: return values_of(request.keys);
    case Op::Add: reply.number = add(request, changes); break;
    case Op::Check: reply.number = missing(request).empty() ? 1 : 0; break;
    case Op::Wait: reply.is_ready = missing(request).empty(); break;
    case Op::NumKeys: reply.number = static_cast<std::int64_t>(values_.size() + queues_.size()); break;
    case Op::Delete: reply.number = remove(request.keys[0], changes) ? 1 : 0; break;
    case Op::Append: append(request.keys[0], request.values[0], changes); break;
    case Op::QueuePush: push(request.keys[0], request.values); break;
    case Op::QueuePop: return pop(request.keys[0]);
    case Op::TryQueuePop:
      reply = pop(request.keys[0]);
      reply.is_ready = true;
      break;
    case Op::QueueLength: reply.number = length(request.keys[0]); break;
  }
  return reply;
}

KeyTable::Prepared KeyTable::prepare(const std::string& key, std::string value, bool is_told) {
  Values alone;
  const auto at = alone.try_emplace(key, std::move(value)).first;
  std::optional<Change> change;
  if (is_told) change = Change{key, std::nullopt, at->second};
  return {alone.extract(at), std::move(change)};
}

// `changes` has capacity for one more.
void KeyTable::put(Prepared prepared, std::vector<Change>* changes) noexcept {
  auto [at, is_new, rest] = values_.insert(std::move(prepared.node));
  ++changed_;
  if (is_new) {
    key_bytes_ += cost_of_key(at->first);
  } else {
    std::swap(at->second, rest.mapped());
    bytes_ -= cost_of(rest.mapped());
  }
  bytes_ += cost_of(at->second);
  if (!prepared.change) return;
  if (!is_new) prepared.change->before = std::move(rest.mapped());
  changes->push_back(std::move(*prepared.change));
}

void KeyTable::put_all(const Request& request, std::vector<Change>* changes) {
  std::vector<Prepared> all;
  all.reserve(request.keys.size());
  for (std::size_t i = 0; i < request.keys.size(); ++i) {
    all.push_back(prepare(request.keys[i], request.values[i], changes != nullptr));
  }
  for (Prepared& each : all) put(std::move(each), changes);
}

Reply KeyTable::values_of(const std::vector<std::string>& keys) const {
  std::vector<const std::string*> found;
  std::size_t bytes = 0;
  for (const std::string& key : keys) {
    const auto at = values_.find(key);
    if (at == values_.end()) return {.is_ready = false, .values = {}, .number = 0};
    found.push_back(&at->second);
    bytes += at->second.size();
  }
  if (bytes > kReplySize) {
    throw Error(ErrorKind::Overloaded, "the values of these " + std::to_string(keys.size()) + " keys have " +
                                           std::to_string(bytes) + " bytes, the limit of a request is " +
                                           std::to_string(kReplySize) + "; request fewer keys at a time");
  }
  Reply reply;
  for (const std::string* const each : found) reply.values.push_back(*each);
  return reply;
}

Reply KeyTable::compare_set(const Request& request, std::vector<Change>* changes) {
  const auto reply = [](const std::string& value) { return Reply{.is_ready = true, .values = {value}, .number = 0}; };
  const std::string &expected = request.values[0], &desired = request.values[1];
  const auto at = values_.find(request.keys[0]);
  if (at == values_.end() && !expected.empty()) return reply(expected);
  if (at != values_.end() && at->second != expected) return reply(at->second);
  Reply done = reply(desired);
  put(prepare(request.keys[0], desired, changes != nullptr), changes);
  return done;
}

std::int64_t KeyTable::add(const Request& request, std::vector<Change>* changes) {
  const auto at = values_.find(request.keys[0]);
  const std::int64_t before = at == values_.end() ? 0 : number_in(at->first, at->second);
  std::int64_t sum = 0;
  if (__builtin_add_overflow(before, request.number, &sum)) {
    throw Error(ErrorKind::InvalidArgument, "ValueError",
                "add to " + shown(request.keys[0]) + ": " + std::to_string(before) + " and " +
                    std::to_string(request.number) + " overflow 64 bits");
  }
  put(prepare(request.keys[0], std::to_string(sum), changes != nullptr), changes);
  return sum;
}

bool KeyTable::remove(const std::string& key, std::vector<Change>* changes) {
  const auto at = values_.find(key);
  const auto queue = queues_.find(key);
  std::optional<Change> change;
  if (changes != nullptr && at != values_.end()) change = Change{key, std::nullopt, std::nullopt};
  if (queue != queues_.end()) {
    for (const std::string& value : queue->second) bytes_ -= cost_of(value);
    key_bytes_ -= cost_of_key(key);
    queues_.erase(queue);
    ++changed_;
    if (at == values_.end()) return true;
  }
  if (at == values_.end()) return false;
  ++changed_;
  bytes_ -= cost_of(at->second);
  key_bytes_ -= cost_of_key(key);
  if (change) {
    change->before = std::move(at->second);
    changes->push_back(std::move(*change));
  }
#ifndef DISTRUN_FUZZ_PLANTED_BUG
  values_.erase(at);
#endif
  return true;
}

void KeyTable::append(const std::string& key, const std::string& value, std::vector<Change>* changes) {
  const auto at = values_.find(key);
  std::string all = at == values_.end() ? "" : at->second;
  if (all.size() + value.size() > kValueSize) refuse_size("the value", key, all.size() + value.size(), kValueSize);
  all += value;
  put(prepare(key, std::move(all), changes != nullptr), changes);
}

void KeyTable::push(const std::string& key, const std::vector<std::string>& values) {
  const auto [at, is_new] = queues_.try_emplace(key);
  const std::size_t before = at->second.size();
  try {
    for (const std::string& value : values) at->second.push_back(value);
  } catch (...) {
    at->second.resize(before);
    if (is_new) queues_.erase(at);
    throw;
  }
  if (is_new) key_bytes_ += cost_of_key(key);
  ++changed_;
  for (const std::string& value : values) bytes_ += cost_of(value);
}

std::int64_t KeyTable::length(const std::string& key) const {
  const auto at = queues_.find(key);
  return at == queues_.end() ? 0 : static_cast<std::int64_t>(at->second.size());
}

Reply KeyTable::pop(const std::string& key) {
  const auto at = queues_.find(key);
  if (at == queues_.end()) return {.is_ready = false, .values = {}, .number = 0};
  Reply reply{.is_ready = true, .values = std::vector<std::string>(1), .number = 0};
  reply.values[0] = std::move(at->second.front());
  ++changed_;
  bytes_ -= cost_of(reply.values[0]);
  at->second.pop_front();
  if (!at->second.empty()) return reply;
  key_bytes_ -= cost_of_key(key);
  queues_.erase(at);
  return reply;
}

void KeyTable::snapshot(const std::function<void(const Request&)>& visit) const {
  snapshot_values(visit);
  for (const auto& [key, queue] : queues_) snapshot_queue(key, queue, visit);
}

void KeyTable::snapshot_values(const std::function<void(const Request&)>& visit) const {
  Request batch{Op::MultiSet, {}, {}, 0};
  std::size_t bytes = 0;
  for (const auto& [key, value] : values_) {
    batch.keys.push_back(key);
    batch.values.push_back(value);
    bytes += cost_of_key(key) + cost_of(value);
    if (bytes < kBatchSize) continue;
    visit(std::exchange(batch, {Op::MultiSet, {}, {}, 0}));
    bytes = 0;
  }
  if (!batch.keys.empty()) visit(batch);
}

void KeyTable::snapshot_queue(const std::string& key, const std::deque<std::string>& queue,
                              const std::function<void(const Request&)>& visit) {
  Request batch{Op::QueuePush, {key}, {}, 0};
  std::size_t bytes = 0;
  for (const std::string& value : queue) {
    batch.values.push_back(value);
    bytes += cost_of(value);
    if (bytes < kBatchSize) continue;
    visit(batch);
    batch.values.clear();
    bytes = 0;
  }
  if (!batch.values.empty()) visit(batch);
}

}  // namespace distrun::stores
