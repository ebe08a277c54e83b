#include <distrun/runner/launch/event_router.hpp>

#include <numeric>

namespace distrun::launch {

std::vector<int> EventRouter::ranks_of(int process) const {
  if (!shape_.threads) return {shape_.rank_of(process)};
  std::vector<int> all(static_cast<std::size_t>(shape_.world_size));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

void EventRouter::started(int process, pid_t pid) {
  for (const int rank : ranks_of(process)) events_.on_rank_started(rank, pid);
}

void EventRouter::frame(int process, const wire::Frame& frame) {
  if (!shape_.threads) return events_.on_frame(shape_.rank_of(process), frame);
  if (frame.is(wire::ControlFrame::Hello)) {  // one for all ranks
    for (const int rank : ranks_of(process)) events_.on_frame(rank, frame);
  } else if (frame.rank < shape_.world_size) {
    events_.on_frame(frame.rank, frame);
  } else {
    lost(process, "it sent a frame of rank " + std::to_string(frame.rank));
  }
}

void EventRouter::lost(int process, const std::string& why) {
  // The connection closes when the process becomes its program.
  if (shape_.program && why == "closed") return events_.on_program(shape_.rank_of(process));
  for (const int rank : ranks_of(process)) events_.on_connection_lost(rank, why);
}

void EventRouter::ended(int process, proc::ExitStatus status) {
  const End end = shape_.threads ? end_of(status) : End{-1, status};
  if (end.rank >= 0) events_.on_rank_ended(end.rank, end.status, -1);
  for (const int rank : ranks_of(process)) {
    if (rank != end.rank) events_.on_rank_ended(rank, status, end.rank);
  }
}

// Finds the rank that has ended the process. Another rank's crash after exit() follows from what exit handlers have
// destroyed.
EventRouter::End EventRouter::end_of(proc::ExitStatus status) const {
  End crashed;
  End left;
  bool has_dump = false;
  for (int rank = 0; rank < shape_.world_size; ++rank) {
    const auto dump = world_.crash(rank);
    const bool fits = dump && status.signaled() && dump->signal == status.signal();
    has_dump = has_dump || fits;
    if (fits && dump->rank == rank) crashed = {rank, status};
    const auto seen = world_.shown(rank);
    const bool says_where = dump && dump->signal == 0;  // if several ranks left, this one was the first
    const bool has_left = seen && seen->leaving_with;
    if (has_left && (left.rank < 0 || says_where)) left = {rank, proc::ExitStatus::of_code(*seen->leaving_with)};
  }
  if (left.rank < 0 || crashed.rank == left.rank) return crashed;
  if (status.exited()) return {left.rank, status};
  return has_dump ? left : End{-1, status};
}

}  // namespace distrun::launch
