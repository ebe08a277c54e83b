// Every operation with every dtype, size, way of waiting, group and layout. Not all combinations are run, but any two
// choices of different kinds occur together in at least one case.
#include <distrun/common/base/rng.hpp>

#include <array>
#include <set>

#include "values.hpp"

namespace {

using namespace distrun;
using namespace distrun::suites;

enum class Layout : std::uint8_t { Whole, WithHoles };

struct Case {
  ProcessGroup& group;
  DType dtype;
  std::int64_t count;
  bool is_async;
  Layout layout;

  CallOptions options() const { return {.timeout = {}, .async = is_async}; }
  // Numbers of the rank at that place in the group.
  Tensor numbers(int place) const { return laid_out(numbers_of(place, count, dtype)); }
  Tensor own() const { return numbers(group.rank()); }
  Tensor room(std::int64_t times = 1) const { return laid_out(here(tensor::zeros({times * count}, {dtype}))); }
  TensorList rooms() const {
    TensorList all;
    for (int place = 0; place < group.size(); ++place) all.push_back(room());
    return all;
  }
  TensorList everybodys() const {
    TensorList all;
    for (int place = 0; place < group.size(); ++place) all.push_back(numbers(place));
    return all;
  }
  ReduceOp reduction() const { return dtype == DType::Bool && !is_nccl() ? ReduceOp::BitOr : ReduceOp::Sum; }
  bool is_nccl() const { return group.backend() == "nccl"; }
  Tensor reduced_by_all() const { return reduced(group.size(), count, reduction(), dtype); }
  int last() const { return group.size() - 1; }
  bool is_last() const { return group.rank() == last(); }
  int next(int by) const { return (group.rank() + group.size() + by) % group.size(); }

 private:
  // Returns the same elements, each followed by an unused one.
  Tensor laid_out(const Tensor& tensor) const {
    if (layout == Layout::Whole) return tensor;
    const Tensor beside = here(tensor::zeros({tensor.numel(), 2}, tensor.options()));
    const Tensor column = tensor::select_view(beside, 1, 0);
    tensor::copy_(column, tensor);
    return column;
  }
};

void expect_all(const Case& of, const TensorList& got) {
  for (int place = 0; place < of.group.size(); ++place)
    expect_same(got[static_cast<std::size_t>(place)], of.numbers(place));
}

void broadcast(const Case& of) {
  const Tensor tensor = of.is_last() ? of.own() : of.room();
  of.group.broadcast(tensor, of.last(), of.options()).wait();
  expect_same(tensor, of.numbers(of.last()));
}

void all_reduce(const Case& of) {
  const Tensor tensor = of.own();
  of.group.all_reduce(tensor, of.reduction(), of.options()).wait();
  expect_same(tensor, of.reduced_by_all());
}

void all_reduce_coalesced(const Case& of) {
  const TensorList tensors{of.own(), of.own()};
  of.group.all_reduce_coalesced(tensors, of.reduction(), of.options()).wait();
  for (const Tensor& each : tensors) expect_same(each, of.reduced_by_all());
}

void reduce(const Case& of) {
  const Tensor tensor = of.own();
  of.group.reduce(tensor, of.last(), of.reduction(), of.options()).wait();
  expect_same(tensor, of.is_last() ? of.reduced_by_all() : of.own());
}

void all_gather(const Case& of) {
  const TensorList all = of.rooms();
  of.group.all_gather(all, of.own(), of.options()).wait();
  expect_all(of, all);
}

void all_gather_into(const Case& of) {
  const Tensor all = of.room(of.group.size());
  of.group.all_gather_into(all, of.own(), of.options()).wait();
  expect_same(all, tensor::cat(of.everybodys()));
}

void all_gather_coalesced(const Case& of) {
  std::vector<TensorList> all;
  for (int place = 0; place < of.group.size(); ++place)
    all.push_back({of.room(), here(tensor::zeros({1}, {DType::I64}))});
  of.group.all_gather_coalesced(all, {of.own(), here(tensor::full({1}, of.group.rank(), {DType::I64}))}, of.options())
      .wait();
  for (int place = 0; place < of.group.size(); ++place) {
    expect_same(all[static_cast<std::size_t>(place)][0], of.numbers(place));
    expect_same(all[static_cast<std::size_t>(place)][1], here(tensor::full({1}, place, {DType::I64})));
  }
}

void gather(const Case& of) {
  const TensorList all = of.is_last() ? of.rooms() : TensorList();
  of.group.gather(all, of.own(), of.last(), of.options()).wait();
  if (of.is_last()) expect_all(of, all);
}

void scatter(const Case& of) {
  const Tensor tensor = of.room();
  of.group.scatter(tensor, of.is_last() ? of.everybodys() : TensorList(), of.last(), of.options()).wait();
  expect_same(tensor, of.own());
}

void reduce_scatter(const Case& of) {
  const Tensor tensor = of.room();
  of.group
      .reduce_scatter(tensor, TensorList(static_cast<std::size_t>(of.group.size()), of.own()), of.reduction(),
                      of.options())
      .wait();
  expect_same(tensor, of.reduced_by_all());
}

void reduce_scatter_from(const Case& of) {
  const Tensor tensor = of.room();
  const TensorList pieces(static_cast<std::size_t>(of.group.size()), of.own());
  of.group.reduce_scatter_from(tensor, tensor::cat(pieces), of.reduction(), of.options()).wait();
  expect_same(tensor, of.reduced_by_all());
}

void all_to_all(const Case& of) {
  const TensorList got = of.rooms();
  of.group.all_to_all(got, TensorList(static_cast<std::size_t>(of.group.size()), of.own()), of.options()).wait();
  expect_all(of, got);
}

void all_to_all_single(const Case& of) {
  const Tensor got = of.room(of.group.size());
  const TensorList pieces(static_cast<std::size_t>(of.group.size()), of.own());
  of.group.all_to_all_single(got, tensor::cat(pieces), {}, {}, of.options()).wait();
  expect_same(got, tensor::cat(of.everybodys()));
}

void letters(const Case& of) {
  const Tensor got = of.room();
  const Work sending = of.group.send(of.own(), of.next(1), 3, {.timeout = {}, .async = true});
  const Work receiving = of.group.receive(got, of.next(-1), 3, of.options());
  receiving.wait();
  sending.wait();
  expect_same(got, of.numbers(of.next(-1)));
}

constexpr std::array kReductions{all_reduce, all_reduce_coalesced, reduce, reduce_scatter, reduce_scatter_from};

constexpr std::array kOperations{broadcast,         all_reduce,      all_reduce_coalesced, reduce,
                                 all_gather,        all_gather_into, all_gather_coalesced, gather,
                                 scatter,           reduce_scatter,  reduce_scatter_from,  all_to_all,
                                 all_to_all_single, letters};

// A choice for each kind: operation, dtype, size, way of waiting, group, layout.
constexpr std::size_t kKinds = 6;
constexpr std::array<int, kKinds> kChoices{kOperations.size(), std::size(kDTypes), std::size(kCounts), 2, 3, 2};
using Choice = std::array<int, kKinds>;
using Pair = std::array<int, 4>;  // kind and choice, twice

std::set<Pair> pairs_of(const Choice& choice) {
  std::set<Pair> pairs;
  for (int a = 0; a < static_cast<int>(kKinds); ++a) {
    for (int b = a + 1; b < static_cast<int>(kKinds); ++b) {
      pairs.insert({a, choice[static_cast<std::size_t>(a)], b, choice[static_cast<std::size_t>(b)]});
    }
  }
  return pairs;
}

std::set<Pair> all_pairs() {
  std::set<Pair> pairs;
  for (int a = 0; a < static_cast<int>(kKinds); ++a) {
    for (int b = a + 1; b < static_cast<int>(kKinds); ++b) {
      for (int x = 0; x < kChoices[static_cast<std::size_t>(a)]; ++x) {
        for (int y = 0; y < kChoices[static_cast<std::size_t>(b)]; ++y) pairs.insert({a, x, b, y});
      }
    }
  }
  return pairs;
}

// Returns the best of some random choices: the one that covers most open pairs; the first choice covers at least one.
// The same on all ranks.
Choice best_of(base::Rng& rng, const std::set<Pair>& open) {
  Choice best{};
  std::size_t most = 0;
  for (int i = 0; i < 30; ++i) {
    Choice choice{};
    for (std::size_t kind = 0; kind < kKinds; ++kind) {
      choice[kind] = static_cast<int>(rng.below(static_cast<std::uint64_t>(kChoices[kind])));
    }
    const Pair& first = *open.begin();
    choice[static_cast<std::size_t>(first[0])] = first[1];
    choice[static_cast<std::size_t>(first[2])] = first[3];
    std::size_t brings = 0;
    for (const Pair& pair : pairs_of(choice)) brings += open.count(pair);
    if (brings > most) most = brings, best = choice;
  }
  return best;
}

std::vector<Choice> choices() {
  std::set<Pair> open = all_pairs();
  base::Rng rng(7);
  std::vector<Choice> all;
  while (!open.empty()) {
    all.push_back(best_of(rng, open));
    for (const Pair& pair : pairs_of(all.back())) open.erase(pair);
  }
  return all;
}

bool nccl_can(void (*operation)(const Case&), const Case& of) {
  const bool reduces = std::find(kReductions.begin(), kReductions.end(), operation) != kReductions.end();
  if (operation == letters && of.group.size() == 1) return false;
  return operation != all_gather_coalesced && !(reduces && of.dtype == DType::I16);
}

std::vector<int> places_of(const ProcessGroup& world, int which) {
  std::vector<int> places;
  for (int place = 0; place < world.size(); ++place) {
    if (which != 1 || place % 2 == 0) places.push_back(place);  // 1: every other rank
  }
  if (which == 2) std::reverse(places.begin(), places.end());
  return places;
}

}  // namespace

DISTRUN_SUITE(Pairs, .skip = {needs_gpus_for_nccl()});

DISTRUN_TEST(Pairs, of_any_two_choices_meet) {
  const auto world = init_process_group(rank);
  std::array<std::shared_ptr<ProcessGroup>, 3> groups{world};
  for (const int which : {1, 2}) groups[static_cast<std::size_t>(which)] = new_group(places_of(*world, which));
  for (const auto& [operation, dtype, count, is_async, group, layout] : choices()) {
    const auto& of = groups[static_cast<std::size_t>(group)];
    if (of == nullptr) continue;  // this rank is not in it
    const Case one{*of, kDTypes[dtype], kCounts[count], is_async == 1, layout == 1 ? Layout::WithHoles : Layout::Whole};
    const auto operate = kOperations[static_cast<std::size_t>(operation)];
    if (one.is_nccl() && !nccl_can(operate, one)) continue;
    operate(one);
  }
  DISTRUN_EXPECT(choices().size() >= kOperations.size() * std::size(kDTypes));
  world->barrier();
}
