#include <distrun/runtime/collectives/process_group.hpp>

#include <algorithm>
#include <array>
#include <exception>
#include <utility>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/leave_to_parent.hpp>
#include <distrun/runtime/collectives/call_engine.hpp>
#include <distrun/runtime/collectives/checks.hpp>
#include <distrun/runtime/core/hosts.hpp>
#include <distrun/runtime/tensor/core/copy.hpp>
#include <distrun/runtime/tensor/core/reshape.hpp>
#include <distrun/runtime/tensor/core/views.hpp>
#include <distrun/runtime/tensor/operators/joining.hpp>

namespace distrun::collectives {
namespace {

TensorList pieces_of(const Tensor& tensor, const Splits& sizes) {
  TensorList pieces;
  std::int64_t begin = 0;
  for (const std::int64_t size : sizes) {
    pieces.push_back(tensor.dim() == 0 ? tensor : tensor::narrow(tensor, 0, begin, size));
    begin += size;
  }
  return pieces;
}

// Returns `count` pieces of equal size, for any shape.
TensorList flat_pieces(const Tensor& tensor, int count) {
  const Tensor flat = tensor::reshape(tensor, {tensor.numel()});
  return pieces_of(flat, Splits(static_cast<std::size_t>(count), tensor.numel() / count));
}

// The bytes of several tensors, one after the other.
using Packed = std::vector<std::byte>;

template <class Pieces>
Packed packed_of(const Pieces& pieces) {
  Packed packed;
  for (const ConstBytes piece : pieces) packed.insert(packed.end(), piece.begin(), piece.end());
  return packed;
}

void unpack(ConstBytes packed, const std::vector<Bytes>& targets) {
  for (const Bytes target : targets) {
    std::copy_n(packed.begin(), target.size(), target.begin());
    packed = packed.subspan(target.size());
  }
}

}  // namespace

std::string default_backend() { return core::known_hosts().are_several() ? "gloo" : "shm"; }

ProcessGroup::ProcessGroup(GroupInfo info, std::shared_ptr<Store> store, GroupOptions options)
    : ProcessGroup(std::move(info), std::move(store), std::move(options), nullptr, 0) {}

ProcessGroup::ProcessGroup(GroupInfo info, std::shared_ptr<Store> store, GroupOptions options, ProcessGroup& parent,
                           int colour)
    : ProcessGroup(std::move(info), std::move(store), std::move(options), &parent, colour) {}

ProcessGroup::ProcessGroup(GroupInfo info, std::shared_ptr<Store> store, GroupOptions options, ProcessGroup* parent,
                           int colour)
    : info_(std::move(info)),
      store_(std::move(store)),
      options_(std::move(options)),
      engine_(std::make_shared<CallEngine>(
          info_, options_.backend, options_.timeout, *store_,
          BackendOptions{.gpu = options_.gpu,
                         .parent = parent == nullptr ? nullptr : &parent->engine_->backend(),
                         .colour = colour,
                         .store = store_})) {}

// During stack unwinding, does not wait for pending calls, which other ranks may never join. In a forked process leaves
// the engine, and what the backend has open, to the parent.
ProcessGroup::~ProcessGroup() {
  if (engine_->is_inherited()) {
    base::leave_to_parent(engine_);
  } else if (std::uncaught_exceptions() > 0) {
    engine_->end(Leaving::Done, "this rank has left it");
  } else {
    leave();
  }
}

const std::shared_ptr<Store>& ProcessGroup::store() const {
  engine_->refuse_if_inherited(Location::here());
  return store_;
}
std::uint64_t ProcessGroup::sequence_number() const {
  engine_->refuse_if_inherited(Location::here());
  return engine_->calls();
}
device::Device ProcessGroup::device() const { return engine_->gpu().value_or(device::kCpu); }
std::optional<base::Nanoseconds> ProcessGroup::host_wait() const {
  return engine_->gpu() ? std::optional(options_.timeout) : std::nullopt;
}
void ProcessGroup::stay_out() {
  engine_->refuse_if_inherited(Location::here());
  engine_->stay_out(options_.timeout);
}
void ProcessGroup::leave() {
  engine_->refuse_if_inherited(Location::here());
  engine_->leave();
}
void ProcessGroup::settle() { engine_->settle(); }
void ProcessGroup::prepare_to_stay() noexcept { engine_->backend().prepare_to_stay(); }
void ProcessGroup::abort(const std::string& why) {
  engine_->refuse_if_inherited(Location::here());
  engine_->end(Leaving::GaveUp, why);
}

Work ProcessGroup::broadcast(const Tensor& tensor, int root, CallOptions options, Location site) {
  const Checks check(info_, CallKind::Broadcast, site);
  check.root(root);
  root == info_.rank ? check.dense(tensor) : check.output(tensor);
  const auto made = engine_->job(CallKind::Broadcast, tensor, options, site);
  made->call.root = root;
  if (root == info_.rank) {
    made->call.in = {made->bytes.read(tensor)};
    made->results = {tensor};
  } else {
    made->call.out = {made->bytes.write(tensor)};
  }
  return engine_->start(made, options);
}

Work ProcessGroup::all_reduce(const Tensor& tensor, ReduceOp op, CallOptions options, Location site) {
  const Checks check(info_, CallKind::AllReduce, site);
  check.output(tensor);
  check.reduction(op, tensor.dtype());
  const auto made = engine_->job(CallKind::AllReduce, tensor, options, site);
  made->call.reduce = op;
  made->call.out = {made->bytes.change(tensor)};
  made->call.in = {made->call.out.front()};
  return engine_->start(made, options);
}

Work ProcessGroup::reduce(const Tensor& tensor, int root, ReduceOp op, CallOptions options, Location site) {
  const Checks check(info_, CallKind::Reduce, site);
  check.root(root);
  root == info_.rank ? check.output(tensor) : check.dense(tensor);
  check.reduction(op, tensor.dtype());
  const auto made = engine_->job(CallKind::Reduce, tensor, options, site);
  made->call.reduce = op;
  made->call.root = root;
  if (root == info_.rank) {
    made->call.out = {made->bytes.change(tensor)};
    made->call.in = {made->call.out.front()};
  } else {
    made->call.in = {made->bytes.read(tensor)};
    made->results = {tensor};
  }
  return engine_->start(made, options);
}

Work ProcessGroup::all_reduce_coalesced(const TensorList& tensors, ReduceOp op, CallOptions options, Location site) {
  const Checks check(info_, CallKind::AllReduce, site);
  if (tensors.empty()) check.refuse("requires non-empty tensor list");
  for (std::size_t i = 0; i < tensors.size(); ++i) check.same_dtype(tensors[i], tensors.front().dtype(), i);
  check.apart(tensors, {});
  check.reduction(op, tensors.front().dtype());
  const auto made = engine_->job(CallKind::AllReduce, tensors.front(), options, site);
  if (engine_->gpu()) return all_reduce_packed(made, tensors, op, options, site);
  std::vector<Bytes> targets;
  for (const Tensor& each : tensors) targets.push_back(made->bytes.change(each));
  const auto packed = std::make_shared<Packed>(packed_of(targets));
  made->call.reduce = op;
  made->call.out = {*packed};
  made->call.in = {*packed};
  made->call.sizes =
      ShownSizes(std::array{static_cast<std::int64_t>(packed->size() / tensor::size_of(made->call.dtype))});
  made->unpack = [packed, targets] { unpack(*packed, targets); };
  return engine_->start(made, options);
}

// Concatenates the tensors on their GPU, on the current stream, and reduces them as one.
Work ProcessGroup::all_reduce_packed(const std::shared_ptr<Job>& job, const TensorList& tensors, ReduceOp op,
                                     const CallOptions& options, Location site) {
  engine_->one_gpu(CallKind::AllReduce, tensors, site);
  TensorList flat;
  for (const Tensor& each : tensors) flat.push_back(tensor::reshape(each, {each.numel()}));
  const Tensor packed = tensor::cat(flat);
  job->call.reduce = op;
  job->call.sizes = ShownSizes(packed.sizes());
  job->call.out = {job->bytes.change(packed)};
  job->call.in = {job->call.out.front()};
  for (const Tensor& each : tensors) job->bytes.add_written(each);
  job->results = tensors;
  job->unpack = [packed, tensors] {
    std::int64_t begin = 0;
    for (const Tensor& each : tensors) {
      tensor::copy_(each, tensor::reshape(tensor::narrow(packed, 0, begin, each.numel()), each.sizes()));
      begin += each.numel();
    }
  };
  return engine_->start(job, options);
}

Work ProcessGroup::all_gather(const TensorList& outputs, const Tensor& input, CallOptions options, Location site) {
  const Checks check(info_, CallKind::AllGather, site);
  check.dense(input);
  check.one_for_each("output", outputs, input);
  check.apart(outputs, {&input, 1});
  const auto made = engine_->job(CallKind::AllGather, input, options, site);
  made->call.in = {made->bytes.read(input)};
  for (const Tensor& each : outputs) made->call.out.push_back(made->bytes.write(each));
  return engine_->start(made, options);
}

Work ProcessGroup::all_gather_into(const Tensor& output, const Tensor& input, CallOptions options, Location site) {
  const Checks check(info_, CallKind::AllGather, site);
  check.dense(input);
  check.same_dtype(output, input.dtype(), 0);
  if (output.numel() != input.numel() * size()) {
    check.refuse("output tensor size must be equal to world_size times input tensor size");
  }
  check.apart_or_own_piece(output, input);
  const auto made = engine_->job(CallKind::AllGather, input, options, site);
  made->call.in = {made->bytes.read(input)};
  const Bytes all = made->bytes.write(output);
  const std::size_t piece = made->call.in.front().size();
  for (std::size_t i = 0; i < info_.ranks.size(); ++i) made->call.out.push_back(all.subspan(i * piece, piece));
  return engine_->start(made, options);
}

Work ProcessGroup::all_gather_coalesced(const std::vector<TensorList>& outputs, const TensorList& inputs,
                                        CallOptions options, Location site) {
  const Checks check(info_, CallKind::AllGather, site);
  if (engine_->gpu()) check.refuse("of several tensors at once is not supported by backend " + backend());
  if (inputs.empty()) check.refuse("requires non-empty input tensor list");
  if (outputs.size() != info_.ranks.size()) check.refuse("output lists should be equal to world size");
  for (const Tensor& each : inputs) check.dense(each);
  for (const TensorList& list : outputs) {
    if (list.size() != inputs.size()) check.refuse("output lists should have the length of the input list");
    for (std::size_t i = 0; i < list.size(); ++i) {
      check.same_dtype(list[i], inputs[i].dtype(), i);
      check.elements(list[i], inputs[i].numel(), i);
    }
  }
  TensorList all_outputs;
  for (const TensorList& list : outputs) all_outputs.insert(all_outputs.end(), list.begin(), list.end());
  check.apart(all_outputs, {});
  const auto made = engine_->job(CallKind::AllGather, {}, options, site);
  std::vector<ConstBytes> pieces;
  for (const Tensor& each : inputs) pieces.push_back(made->bytes.read(each));
  std::vector<Bytes> targets;
  for (const TensorList& list : outputs) {
    for (const Tensor& each : list) targets.push_back(made->bytes.write(each));
  }
  const auto own = std::make_shared<Packed>(packed_of(pieces));
  const auto all = std::make_shared<Packed>(own->size() * info_.ranks.size());
  made->call.in = {*own};
  for (std::size_t i = 0; i < outputs.size(); ++i)
    made->call.out.push_back(Bytes(*all).subspan(i * own->size(), own->size()));
  made->call.sizes = ShownSizes(std::array{static_cast<std::int64_t>(own->size())});
  made->unpack = [own, all, targets] { unpack(*all, targets); };
  return engine_->start(made, options);
}

Work ProcessGroup::gather(const TensorList& outputs, const Tensor& input, int root, CallOptions options,
                          Location site) {
  const Checks check(info_, CallKind::Gather, site);
  check.root(root);
  check.dense(input);
  const bool is_root = root == info_.rank;
  if (!is_root && !outputs.empty()) check.refuse("requires empty output on non-root");
  if (is_root) check.one_for_each("output", outputs, input);
  check.apart(outputs, {&input, 1});
  const auto made = engine_->job(CallKind::Gather, input, options, site);
  made->call.root = root;
  made->call.in = {made->bytes.read(input)};
  for (const Tensor& each : outputs) made->call.out.push_back(made->bytes.write(each));
  return engine_->start(made, options);
}

Work ProcessGroup::scatter(const Tensor& output, const TensorList& inputs, int root, CallOptions options,
                           Location site) {
  const Checks check(info_, CallKind::Scatter, site);
  check.root(root);
  check.dense(output);
  const bool is_root = root == info_.rank;
  if (!is_root && !inputs.empty()) check.refuse("requires empty input on non-root");
  if (is_root) check.one_for_each("input", inputs, output);
  check.apart({&output, 1}, inputs);
  const auto made = engine_->job(CallKind::Scatter, output, options, site);
  made->call.root = root;
  for (const Tensor& each : inputs) made->call.in.push_back(made->bytes.read(each));
  made->call.out = {made->bytes.write(output)};
  return engine_->start(made, options);
}

Work ProcessGroup::reduce_scatter(const Tensor& output, const TensorList& inputs, ReduceOp op, CallOptions options,
                                  Location site) {
  const Checks check(info_, CallKind::ReduceScatter, site);
  check.dense(output);
  check.one_for_each("input", inputs, output);
  check.apart({&output, 1}, inputs);
  check.reduction(op, output.dtype());
  const auto made = engine_->job(CallKind::ReduceScatter, output, options, site);
  made->call.reduce = op;
  for (const Tensor& each : inputs) made->call.in.push_back(made->bytes.read(each));
  made->call.out = {made->bytes.write(output)};
  return engine_->start(made, options);
}

Work ProcessGroup::reduce_scatter_from(const Tensor& output, const Tensor& input, ReduceOp op, CallOptions options,
                                       Location site) {
  const Checks check(info_, CallKind::ReduceScatter, site);
  check.dense(input);
  check.same_dtype(output, input.dtype(), 0);
  if (input.numel() != output.numel() * size()) {
    check.refuse("input tensor must be the same size as output size times world size");
  }
  return reduce_scatter(output, flat_pieces(input, size()), op, options, site);
}

Work ProcessGroup::all_to_all(const TensorList& outputs, const TensorList& inputs, CallOptions options, Location site) {
  const Checks check(info_, CallKind::AllToAll, site);
  for (const TensorList* list : {&outputs, &inputs}) {
    if (list->size() != info_.ranks.size()) check.refuse("tensor lists should be equal to world size");
    for (std::size_t i = 0; i < list->size(); ++i) check.same_dtype((*list)[i], inputs.front().dtype(), i);
  }
  const auto own = static_cast<std::size_t>(rank());
  check.elements(outputs[own], inputs[own].numel(), own);
  check.apart(outputs, inputs);
  const auto made = engine_->job(CallKind::AllToAll, inputs.front(), options, site);
  for (const Tensor& each : inputs) made->call.in.push_back(made->bytes.read(each));
  for (const Tensor& each : outputs) made->call.out.push_back(made->bytes.write(each));
  return engine_->start(made, options);
}

Work ProcessGroup::all_to_all_single(const Tensor& output, const Tensor& input, Splits output_splits,
                                     Splits input_splits, CallOptions options, Location site) {
  const Checks check(info_, CallKind::AllToAll, site);
  const Splits outs = check.splits("output", output, std::move(output_splits));
  const Splits ins = check.splits("input", input, std::move(input_splits));
  return all_to_all(pieces_of(output, outs), pieces_of(input, ins), options, site);
}

Work ProcessGroup::barrier(CallOptions options, Location site) {
  return engine_->start(engine_->job(CallKind::Barrier, {}, options, site), options);
}

Work ProcessGroup::send(const Tensor& tensor, int to, std::uint64_t tag, CallOptions options, Location site) {
  const Checks check(info_, CallKind::Send, site);
  check.peer(to);
  check.dense(tensor);
  if (engine_->gpu()) {
    const auto made = engine_->job(CallKind::Send, tensor, options, site);
    made->call.root = to;
    made->call.in = {made->bytes.read(tensor)};
    made->results = {tensor};
    return engine_->start(made, options);
  }
  engine_->refuse_if_over(site);
  auto bytes = std::make_shared<CallBytes>();
  const ConstBytes read = bytes->read(tensor);
  auto transfer = engine_->host().begin_send({to, tag, tensor.dtype(), site, engine_->timeout(options)}, read);
  return engine_->finish(CallKind::Send, std::move(transfer), std::move(bytes), options, site);
}

Work ProcessGroup::receive(const Tensor& tensor, int from, std::uint64_t tag, CallOptions options, Location site) {
  const Checks check(info_, CallKind::Receive, site);
  check.peer(from);
  if (engine_->gpu()) {
    check.output(tensor);
    const auto made = engine_->job(CallKind::Receive, tensor, options, site);
    made->call.root = from;
    made->call.out = {made->bytes.write(tensor)};
    return engine_->start(made, options);
  }
  return receive_some(tensor, from, tag, options, site);
}

Work ProcessGroup::receive_from_any(const Tensor& tensor, std::uint64_t tag, CallOptions options, Location site) {
  if (engine_->gpu()) {
    Checks(info_, CallKind::Receive, site)
        .refuse("from any rank is not supported by backend " + backend() + "; name the rank");
  }
  return receive_some(tensor, -1, tag, options, site);
}

Work ProcessGroup::receive_some(const Tensor& tensor, int from, std::uint64_t tag, const CallOptions& options,
                                Location site) {
  Checks(info_, CallKind::Receive, site).output(tensor);
  engine_->refuse_if_over(site);
  auto bytes = std::make_shared<CallBytes>();
  const Bytes written = bytes->write(tensor);
  auto transfer = engine_->host().begin_receive({from, tag, tensor.dtype(), site, engine_->timeout(options)}, written);
  return engine_->finish(CallKind::Receive, std::move(transfer), std::move(bytes), options, site);
}

}  // namespace distrun::collectives
