// Requests: those that are answered at once and those that wait.
#include <algorithm>
#include <utility>

#include <distrun/common/base/deadline.hpp>
#include <distrun/common/base/error.hpp>
#include <distrun/common/base/if_memory.hpp>
#include <distrun/common/store_server/serving.hpp>

namespace distrun::stores {
namespace {

constexpr std::size_t kAskedMax = 1024;                           // requests of one client that wait for keys
constexpr std::size_t kWaitingBytesMax = std::size_t{256} << 20;  // of all requests that wait for keys
constexpr base::Nanoseconds kPatienceMax = std::chrono::hours(24 * 365);

std::size_t bytes_of(const Request& request) {
  constexpr std::size_t kEach = 2 * sizeof(std::string);
  std::size_t bytes = 0;
  for (const std::string& key : request.keys) bytes += kEach + key.size();
  for (const std::string& value : request.values) bytes += kEach + value.size();
  return bytes;
}

Refusal refusal_of(std::uint64_t id, const Error& error) { return {id, wire::error_fields(error)}; }

}  // namespace

template <class Message>
void Serving::send(Client& client, StoreFrame kind, const Message& message) {
  if (client.is_gone) return;
  try {
    client.line->send(wire::pack(kind, 0, message));
    client.count_untaken(loop_.clock().now(), false);
  } catch (const std::exception&) {
    drop(client);  // the client does not read, or memory for the answer is missing
  }
}

void Serving::take(Client& client, const wire::Frame& frame) {
  client.arriving.clear();
  try {
    if (frame.is(StoreFrame::Ask)) {
      take(client, wire::decode<Ask>(wire::view_of(frame.payload)));
    } else if (frame.is(StoreFrame::FollowKey) && client.watches.size() < kAskedMax) {
      client.watches.insert(wire::decode<FollowKey>(wire::view_of(frame.payload)).key);
      send(client, StoreFrame::Answer, Answer{});
    } else if (frame.is(StoreFrame::Cancel)) {
      cancel(client, wire::decode<Cancel>(wire::view_of(frame.payload)).id);
    } else {
      drop(client);
    }
  } catch (const std::exception&) {  // malformed, or out of memory
    drop(client);
  }
  use_room();
  sweep();
}

void Serving::take(Client& client, Ask ask) {
  if (try_answer(client, ask)) return;
  if (client.waiting == kAskedMax) return drop(client);
  const std::size_t bytes = bytes_of(ask.request);
  if (waiting_bytes() + bytes > kWaitingBytesMax) {
    return send(client, StoreFrame::Refusal,
                refusal_of(ask.id, Error(ErrorKind::Overloaded,
                                         "requests of " + std::to_string(waiting_bytes()) +
                                             " bytes are already waiting for keys of this store, too many")));
  }
  ++client.waiting;
  const base::TimePoint now = loop_.clock().now();
  const auto patience = std::clamp(base::Nanoseconds(ask.patience_ns), base::Nanoseconds(0), kPatienceMax);
  waiting_.push_back({&client, std::move(ask), bytes, base::deadline_after(patience, now)});
  set_alarm();
}

std::size_t Serving::waiting_bytes() const {
  std::size_t bytes = 0;
  for (const Waiting& each : waiting_) bytes += each.bytes;
  return bytes;
}

// Returns false if a key that it waits for is missing.
bool Serving::try_answer(Client& client, const Ask& ask) {
  std::vector<Change> changes;
  if (!answer(client, ask, &changes)) return false;
  tell_changes(changes);
  if (is_change(ask.request.op) && !waiting_.empty()) answer_waiting();
  return true;
}

bool Serving::answer(Client& client, const Ask& ask, std::vector<Change>* changes) noexcept {
  try {
    Reply reply = table_.run(ask.request, changes);
    if (!reply.is_ready) return false;
    send(client, StoreFrame::Answer, Answer{ask.id, std::move(reply)});
  } catch (const Error& error) {
    refuse(client, ask.id, [&] { return error; });
  } catch (const std::bad_alloc&) {
    refuse(client, ask.id,
           [] { return Error(ErrorKind::Overloaded, "MemoryError", "the store's server is out of memory"); });
  }
  return true;
}

template <class Make>
void Serving::refuse(Client& client, std::uint64_t id, Make make) noexcept {
  base::if_memory([&] { send(client, StoreFrame::Refusal, refusal_of(id, make())); }, [&] { drop(client); });
}

void Serving::cancel(Client& client, std::uint64_t id) {
  waiting_.remove_if([&](const Waiting& each) {
    if (each.client != &client || each.ask.id != id) return false;
    --client.waiting;
    refuse(client, id, [] { return Error(ErrorKind::Cancelled, "cancelled"); });
    return true;
  });
}

// Answers the oldest first, as long as there is room for answers. Answering one does not make another ready: a pop only
// removes.
void Serving::answer_waiting() {
  waiting_.remove_if([this](const Waiting& each) {
    if (each.client->is_gone) return true;
    if (!answers_.has_room()) {
      is_behind_ = true;
      return false;
    }
    if (!answer(*each.client, each.ask)) return false;
    --each.client->waiting;
    return true;
  });
  if (is_behind_) note_shortage();
}

// A client that is dropped notices that it has missed a change.
void Serving::tell_changes(const std::vector<Change>& changes) noexcept {
  for (const Change& change : changes) {
    for (Client& client : clients_) {
      if (!client.watches.contains(change.key)) continue;
      if (!answers_.has_room()) {
        drop(client);
        continue;
      }
      base::if_memory(
          [&] {
            send(client, StoreFrame::Changed, Changed{change.key, change.before, change.after});
          },
          [&] { drop(client); });
    }
  }
}

void Serving::end_late() {
  const base::TimePoint now = loop_.clock().now();
  waiting_.remove_if([&](const Waiting& each) {
    if (each.deadline > now) return false;
    --each.client->waiting;
    if (is_behind_ && answer(*each.client, each.ask)) return true;
    refuse(*each.client, each.ask.id, [&] {
      return Error(ErrorKind::Timeout, "DistStoreError",
                   timeout_text(base::Nanoseconds(each.ask.timeout_ns), table_.named_missing(each.ask.request)));
    });
    return true;
  });
  set_alarm();
  sweep();
}

void Serving::set_alarm() {
  const auto first = std::ranges::min_element(waiting_, {}, &Waiting::deadline);
  if (first != waiting_.end()) deadline_.set(first->deadline);
}

}  // namespace distrun::stores
