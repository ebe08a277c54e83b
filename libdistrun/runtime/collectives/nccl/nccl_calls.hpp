#pragma once
// Translates calls to NCCL's functions. Calls that NCCL lacks, or that need contiguous tensors there, become a group of
// sends and receives, which NCCL runs as one operation. `Api` provides those functions for one communicator and stream
// (module.cpp; tests have one that records the calls):
//
//   api.begin_group(), api.end_group()
//   api.broadcast(from, to, bytes, root), api.all_gather(from, to, bytes)
//   api.all_reduce(from, to, elements, dtype, op), api.reduce(from, to, elements, dtype, op, root)
//   api.reduce_scatter(from, to, elements, dtype, op)
//   api.send(from, bytes, rank), api.receive(to, bytes, rank)
//   api.barrier()
#include <algorithm>

#include <distrun/runtime/collectives/call.hpp>

namespace distrun::collectives::nccl_line {

// Returns true if the pieces are contiguous, in order and without holes: NCCL sees one tensor then.
template <class Piece>
bool are_one(const std::vector<Piece>& pieces) {
  for (std::size_t i = 1; i < pieces.size(); ++i) {
    if (pieces[i].data() != pieces[i - 1].data() + pieces[i - 1].size()) return false;
  }
  return true;
}

// Exchanges bytes between all ranks; skips empty pieces.
template <class Api>
void exchange(Api& api, const std::vector<ConstBytes>& to_ranks, const std::vector<Bytes>& from_ranks) {
  for (std::size_t rank = 0; rank < to_ranks.size(); ++rank) {
    if (!to_ranks[rank].empty()) api.send(to_ranks[rank].data(), to_ranks[rank].size(), static_cast<int>(rank));
  }
  for (std::size_t rank = 0; rank < from_ranks.size(); ++rank) {
    if (!from_ranks[rank].empty())
      api.receive(from_ranks[rank].data(), from_ranks[rank].size(), static_cast<int>(rank));
  }
}

template <class Api>
void exchange_with_root(Api& api, const Call& call) {
  if (call.kind == CallKind::Gather) {
    if (!call.in.front().empty()) api.send(call.in.front().data(), call.in.front().size(), call.root);
    return exchange(api, {}, call.out);
  }
  exchange(api, call.in, {});
  if (!call.out.front().empty()) api.receive(call.out.front().data(), call.out.front().size(), call.root);
}

// Call within a group.
template <class Api>
void reduce_scatter_pieces(Api& api, const Call& call, std::size_t element) {
  for (std::size_t rank = 0; rank < call.in.size(); ++rank) {
    api.reduce(call.in[rank].data(), call.out.front().data(), call.out.front().size() / element, call.dtype,
               call.reduce, static_cast<int>(rank));
  }
}

// `place` and `ranks` are those of the communicator.
template <class Api>
void make_call(Api& api, const Call& call, int place, int ranks) {
  const std::size_t element = tensor::size_of(call.dtype);
  const auto in_group = [&](const auto& body) {
    api.begin_group();
    body();
    api.end_group();
  };
  const std::byte* const in = call.in.empty() ? nullptr : call.in.front().data();
  std::byte* const out = call.out.empty() ? nullptr : call.out.front().data();
  const std::size_t bytes = !call.in.empty() ? call.in.front().size() : call.out.empty() ? 0 : call.out.front().size();
  switch (call.kind) {
    case CallKind::Barrier: return api.barrier();
    case CallKind::Broadcast:
      // A root broadcasts in place: its bytes are read, and overwritten with the same values.
      return api.broadcast(in != nullptr ? in : out, out != nullptr ? out : const_cast<std::byte*>(in), bytes,
                           call.root);
    case CallKind::AllReduce: return api.all_reduce(in, out, bytes / element, call.dtype, call.reduce);
    case CallKind::Reduce: return api.reduce(in, out, bytes / element, call.dtype, call.reduce, call.root);
    case CallKind::AllGather:
      if (are_one(call.out)) return api.all_gather(in, out, bytes);
      return in_group(
          [&] { exchange(api, std::vector<ConstBytes>(static_cast<std::size_t>(ranks), call.in.front()), call.out); });
    case CallKind::ReduceScatter:
      if (are_one(call.in)) {
        return api.reduce_scatter(in, out, call.out.front().size() / element, call.dtype, call.reduce);
      }
      return in_group([&] { reduce_scatter_pieces(api, call, element); });
    case CallKind::AllToAll: return in_group([&] { exchange(api, call.in, call.out); });
    case CallKind::Gather:
    case CallKind::Scatter: return in_group([&] { exchange_with_root(api, call); });
    default:  // a message from the first of two ranks to the second
      if (place == 0) return api.send(in, bytes, 1);
      return api.receive(out, bytes, 0);
  }
}

}  // namespace distrun::collectives::nccl_line
