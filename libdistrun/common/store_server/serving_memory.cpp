// Memory: the bounds on what all clients together make the server hold. A bound on answers may be exceeded by the last
// one that found room.
#include <algorithm>
#include <utility>

#include <distrun/common/base/deadline.hpp>
#include <distrun/common/store_server/serving.hpp>

namespace distrun::stores {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kSmallRequest = 64 << 10;  // not counted: each client may send one
constexpr base::Nanoseconds kRest = 1s;          // between two searches for stalled clients

}  // namespace

// Counts the whole of a large request before it is read any further, so that each that was begun can be finished.
bool Serving::may_read(Client& client, std::size_t request) {
  const bool is_counted = request <= kSmallRequest || client.arriving > 0;
  if (!answers_.has_room() || !(is_counted || requests_.has_room_for(request))) {
    client.is_held_up = true;
    note_shortage();
    return false;
  }
  if (!is_counted) {
    client.arriving.set(request);
    client.arriving_since = loop_.clock().now();
  }
  return true;
}

void Serving::Client::count_untaken(base::TimePoint now, bool has_taken) {
  if (untaken == 0) untaken_since = took_some = now;
  if (has_taken) took_some = now;
  untaken.set(line->queued());
}

void Serving::note_shortage() {
  if (is_short_) return;
  shortage_.set_after(std::min<base::Nanoseconds>({kRest, limits_.idle, limits_.whole}));
  is_short_ = true;
}

// Lets the clients that were held up ask again for room; those that find none are held up again.
void Serving::use_room() {
  if (!is_short_ || !answers_.has_room()) return;
  if (std::exchange(is_behind_, false)) answer_waiting();
  for (Client& client : clients_) {
    if (client.is_gone || !std::exchange(client.is_held_up, false)) continue;
    client.arriving_since = loop_.clock().now();  // that it could not send was not its fault
    client.line->resume();
  }
}

bool Serving::Client::is_stalled(base::TimePoint now, const ServerLimits& limits) const {
  const bool takes_nothing = untaken > 0 && now - took_some >= limits.idle;
  const bool takes_too_long = untaken > 0 && now - untaken_since >= limits.whole;
  const bool sends_too_slowly = arriving > 0 && !is_held_up && now - arriving_since >= limits.whole;
  return takes_nothing || takes_too_long || sends_too_slowly;
}

void Serving::end_stalled() {
  is_short_ = false;
  const bool do_others_wait = is_behind_ || std::ranges::any_of(clients_, &Client::is_held_up);
  if (!do_others_wait) return;
  note_shortage();
  const base::TimePoint now = loop_.clock().now();
  for (Client& client : clients_) {
    if (!client.is_gone && client.is_stalled(now, limits_)) drop(client);
  }
  sweep();
}

}  // namespace distrun::stores
