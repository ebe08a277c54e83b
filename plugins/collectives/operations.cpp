// Each collective, with all dtypes and with sizes that take different code paths.
#include "values.hpp"

namespace {

using namespace distrun;
using namespace distrun::suites;

TensorList all_numbers(int ranks, std::int64_t count, DType dtype = DType::F32) {
  TensorList all;
  for (int rank = 0; rank < ranks; ++rank) all.push_back(numbers_of(rank, count, dtype));
  return all;
}

}  // namespace

DISTRUN_SUITE(Collectives, .skip = {needs_gpus_for_nccl()});

DISTRUN_TEST(Collectives, broadcast_from_every_rank) {
  const auto group = init_process_group(rank);
  for (int root = 0; root < group->size(); ++root) {
    for (const std::int64_t count : kCounts) {
      const Tensor tensor = numbers_of(rank.rank() == root ? root : root + 1, count);
      group->broadcast(tensor, root);
      expect_same(tensor, numbers_of(root, count));
    }
  }
}

DISTRUN_TEST(Collectives, all_reduce_of_all_sizes) {
  const auto group = init_process_group(rank);
  for (const std::int64_t count : kCounts) {
    const Tensor tensor = numbers_of(rank.rank(), count);
    group->all_reduce(tensor);
    expect_same(tensor, reduced(group->size(), count, ReduceOp::Sum));
  }
}

DISTRUN_TEST(Collectives, all_reduce_of_all_dtypes) {
  const auto group = init_process_group(rank);
  const bool has_all = group->backend() != "nccl";
  for (const DType dtype : kDTypes) {
    const Tensor tensor = numbers_of(rank.rank(), 70'000, dtype);
    if (!has_all && dtype == DType::I16) {
      DISTRUN_EXPECT_THROWS(Error, "data type is not supported for NCCL: int16", group->all_reduce(tensor));
      continue;
    }
    group->all_reduce(tensor);
    const ReduceOp op = dtype == DType::Bool ? ReduceOp::BitOr : ReduceOp::Sum;
    expect_same(tensor, reduced(group->size(), 70'000, op, dtype));
  }
}

DISTRUN_TEST(Collectives, all_reduce_by_all_operations) {
  const auto group = init_process_group(rank);
  for (int i = 0; i < collectives::kReduceOps; ++i) {
    const auto op = static_cast<ReduceOp>(i);
    if (op >= ReduceOp::BitAnd && group->backend() == "nccl") {
      const Tensor bits = numbers_of(rank.rank(), 5, DType::I32);
      DISTRUN_EXPECT_THROWS(Error, std::string("cannot use ") + name_of(op), group->all_reduce(bits, op));
      continue;
    }
    const DType dtype = op >= ReduceOp::BitAnd ? DType::I32 : DType::F64;
    for (const std::int64_t count : {5, 50'000}) {
      const Tensor tensor = numbers_of(rank.rank(), count, dtype);
      group->all_reduce(tensor, op);
      expect_same(tensor, reduced(group->size(), count, op, dtype));
    }
  }
}

DISTRUN_TEST(Collectives, all_reduce_is_the_same_bits_on_all_ranks) {
  const auto group = init_process_group(rank);
  for (const std::int64_t count : {100, 100'000}) {
    const Tensor tensor = tensor::mul(numbers_of(rank.rank(), count), 0.1);
    group->all_reduce(tensor);
    const TensorList all = room_for(group->size(), count);
    group->all_gather(all, tensor);
    for (const Tensor& each : all) expect_same(each, tensor);
  }
}

DISTRUN_TEST(Collectives, all_reduce_of_several_as_one) {
  const auto group = init_process_group(rank);
  const TensorList tensors{numbers_of(rank.rank(), 7), numbers_of(rank.rank(), 0), numbers_of(rank.rank(), 90'000)};
  group->all_reduce_coalesced(tensors, ReduceOp::Max);
  for (const Tensor& each : tensors) expect_same(each, reduced(group->size(), each.numel(), ReduceOp::Max));
}

DISTRUN_TEST(Collectives, reduce_to_every_rank) {
  const auto group = init_process_group(rank);
  for (int root = 0; root < group->size(); ++root) {
    for (const std::int64_t count : kCounts) {
      const Tensor tensor = numbers_of(rank.rank(), count);
      group->reduce(tensor, root, ReduceOp::Product);
      const bool is_root = rank.rank() == root;
      expect_same(tensor, is_root ? reduced(group->size(), count, ReduceOp::Product) : numbers_of(rank.rank(), count));
    }
  }
}

DISTRUN_TEST(Collectives, all_gather_as_list_and_as_one) {
  const auto group = init_process_group(rank);
  for (const std::int64_t count : kCounts) {
    const TensorList all = room_for(group->size(), count);
    group->all_gather(all, numbers_of(rank.rank(), count));
    for (int each = 0; each < group->size(); ++each)
      expect_same(all[static_cast<std::size_t>(each)], numbers_of(each, count));
    const Tensor one = here(tensor::zeros({group->size() * count}));
    group->all_gather_into(one, numbers_of(rank.rank(), count));
    expect_same(one, tensor::cat(all));
  }
}

DISTRUN_TEST(Collectives, all_gather_of_several_dtypes_as_one, .skip = {needs_collective("allgather_coalesced")}) {
  const auto group = init_process_group(rank);
  const TensorList own{numbers_of(rank.rank(), 3, DType::I64), numbers_of(rank.rank(), 5, DType::Bool)};
  std::vector<TensorList> all;
  for (int each = 0; each < group->size(); ++each) {
    all.push_back({here(tensor::zeros({3}, {DType::I64})), here(tensor::zeros({5}, {DType::Bool}))});
  }
  group->all_gather_coalesced(all, own);
  for (int each = 0; each < group->size(); ++each) {
    expect_same(all[static_cast<std::size_t>(each)][0], numbers_of(each, 3, DType::I64));
    expect_same(all[static_cast<std::size_t>(each)][1], numbers_of(each, 5, DType::Bool));
  }
}

DISTRUN_TEST(Collectives, gather_to_every_rank) {
  const auto group = init_process_group(rank);
  for (int root = 0; root < group->size(); ++root) {
    for (const std::int64_t count : kCounts) {
      const TensorList all = room_for(rank.rank() == root ? group->size() : 0, count);
      group->gather(all, numbers_of(rank.rank(), count), root);
      for (std::size_t i = 0; i < all.size(); ++i) expect_same(all[i], numbers_of(static_cast<int>(i), count));
    }
  }
}

DISTRUN_TEST(Collectives, scatter_from_every_rank) {
  const auto group = init_process_group(rank);
  for (int root = 0; root < group->size(); ++root) {
    for (const std::int64_t count : kCounts) {
      const Tensor own = here(tensor::zeros({count}));
      group->scatter(own, rank.rank() == root ? all_numbers(group->size(), count) : TensorList(), root);
      expect_same(own, numbers_of(rank.rank(), count));
    }
  }
}

DISTRUN_TEST(Collectives, reduce_scatter_of_lists_and_of_one) {
  const auto group = init_process_group(rank);
  for (const std::int64_t count : kCounts) {
    TensorList own;
    for (int i = 0; i < group->size(); ++i) own.push_back(tensor::mul(numbers_of(rank.rank(), count), i + 1));
    const Tensor expected = tensor::mul(reduced(group->size(), count, ReduceOp::Sum), rank.rank() + 1);
    const Tensor out = here(tensor::zeros({count}));
    group->reduce_scatter(out, own);
    expect_same(out, expected);
    const Tensor again = here(tensor::zeros({count}));
    group->reduce_scatter_from(again, tensor::cat(own));
    expect_same(again, expected);
  }
}

DISTRUN_TEST(Collectives, all_to_all_of_equal_and_of_other_sizes) {
  const auto group = init_process_group(rank);
  const int n = group->size();
  const auto sent = [](int from, int to, std::int64_t count) { return tensor::add(numbers_of(from, count), 10 * to); };
  for (const std::int64_t count : kCounts) {
    TensorList in, expected;
    for (int each = 0; each < n; ++each) {
      in.push_back(sent(rank.rank(), each, count));
      expected.push_back(sent(each, rank.rank(), count));
    }
    const TensorList out = room_for(n, count);
    group->all_to_all(out, in);
    expect_same(tensor::cat(out), tensor::cat(expected));
    const Tensor one = here(tensor::zeros({n * count}));
    group->all_to_all_single(one, tensor::cat(in));
    expect_same(one, tensor::cat(expected));
  }
  // Rank r sends r + q + 1 rows to rank q; also large rows.
  for (const std::int64_t row : {2, 40'000}) {
    collectives::Splits to, from;
    TensorList in, expected;
    for (int each = 0; each < n; ++each) {
      const std::int64_t rows = rank.rank() + each + 1;
      to.push_back(rows);
      from.push_back(rows);
      in.push_back(tensor::reshape(sent(rank.rank(), each, rows * row), {rows, row}));
      expected.push_back(tensor::reshape(sent(each, rank.rank(), rows * row), {rows, row}));
    }
    const Tensor out = here(tensor::zeros(tensor::cat(expected).sizes()));
    group->all_to_all_single(out, tensor::cat(in), from, to);
    expect_same(out, tensor::cat(expected));
  }
}

DISTRUN_TEST(Collectives, barrier_keeps_ranks_together) {
  const auto group = init_process_group(rank);
  for (int round = 1; round <= 20; ++round) {
    store(rank)->add("round", 1);
    group->barrier();
    DISTRUN_EXPECT(store(rank)->add("round", 0) >= round * group->size());
    group->barrier();
  }
}

DISTRUN_TEST(Collectives, work_goes_on_beside_the_rank) {
  const auto group = init_process_group(rank);
  const TensorList tensors{numbers_of(rank.rank(), 10), numbers_of(rank.rank(), 100'000)};
  const Work first = group->all_reduce(tensors[0], ReduceOp::Sum, {.async = true});
  const Work second = group->all_reduce(tensors[1], ReduceOp::Max, {.async = true});
  const Work third = group->barrier();  // queued after them; blocks the host until it is done
  DISTRUN_EXPECT(first.done());
  DISTRUN_EXPECT(second.done());
  DISTRUN_EXPECT(third.done());
  first.wait();
  second.wait();
  DISTRUN_EXPECT(second.number() == first.number() + 1);
  DISTRUN_EXPECT(third.number() == second.number() + 1);
  DISTRUN_EXPECT(first.succeeded());
  expect_same(first.result().front(), reduced(group->size(), 10, ReduceOp::Sum));
  expect_same(second.future().wait().front(), reduced(group->size(), 100'000, ReduceOp::Max));
  DISTRUN_EXPECT(group->sequence_number() == third.number());
}

DISTRUN_TEST(Collectives, tensors_with_holes) {
  const auto group = init_process_group(rank);
  const Tensor whole = tensor::reshape(numbers_of(rank.rank(), 60), {6, 10});
  const Tensor column = tensor::narrow(whole, 1, 2, 3);
  group->all_reduce(column);
  const Tensor expected = tensor::reshape(reduced(group->size(), 60, ReduceOp::Sum), {6, 10});
  expect_same(column, tensor::narrow(expected, 1, 2, 3));
  expect_same(tensor::narrow(whole, 1, 5, 5),
              tensor::narrow(tensor::reshape(numbers_of(rank.rank(), 60), {6, 10}), 1, 5, 5));
  const Tensor turned = tensor::t(tensor::reshape(numbers_of(rank.rank(), 6), {2, 3}));
  group->broadcast(turned, 0);
  expect_same(turned, tensor::t(tensor::reshape(numbers_of(0, 6), {2, 3})));
}

DISTRUN_TEST(Collectives, sparse_tensors_are_added) {
  const auto group = init_process_group(rank);
  const int n = group->size();
  // Rank r has ones at 0 .. r; in the second one, rank 0 of two or more ranks has none at all.
  const auto sparse = [&](int entries) {
    const Tensor at = here(tensor::reshape(tensor::arange(entries), {1, entries}));
    return tensor::sparse_coo(at, here(tensor::ones({entries})), {n});
  };
  const Tensor sum = all_reduce_sparse(*group, sparse(rank.rank() + 1));
  DISTRUN_EXPECT(tensor::is_coalesced(sum));
  const Tensor expected = tensor::zeros({n});
  for (int i = 0; i < n; ++i) expected.data_as<float>()[i] = static_cast<float>(n - i);
  expect_same(tensor::to_dense(sum), expected);
  expect_same(tensor::to_dense(all_reduce_sparse(*group, sparse(0))), here(tensor::zeros({n})));
  DISTRUN_EXPECT_THROWS(Error, "unsupported reduction operation", all_reduce_sparse(*group, sparse(1), ReduceOp::Max));
}

DISTRUN_TEST(Collectives, objects_of_different_sizes) {
  const auto group = init_process_group(rank);
  const auto own = [](int of) {
    return std::vector<std::string>(static_cast<std::size_t>(of + 1),
                                    std::string(static_cast<std::size_t>(1000 * of), 'x'));
  };
  const auto all = all_gather_object(*group, own(rank.rank()));
  for (int each = 0; each < group->size(); ++each) DISTRUN_EXPECT(all[static_cast<std::size_t>(each)] == own(each));
  for (int root = 0; root < group->size(); ++root) {
    DISTRUN_EXPECT(broadcast_object(*group, own(rank.rank()), root) == own(root));
    const auto gathered = gather_object(*group, own(rank.rank()), root);
    DISTRUN_EXPECT(gathered == (rank.rank() == root ? all : decltype(all)()));
    DISTRUN_EXPECT(scatter_object(*group, rank.rank() == root ? all : decltype(all)(), root) == own(rank.rank()));
  }
}
