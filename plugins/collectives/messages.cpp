// Point-to-point messages.
#include "values.hpp"

namespace {

using namespace distrun;
using namespace distrun::suites;

constexpr std::int64_t kLarge = 500'000;

int after(const ProcessGroup& group) { return (group.rank() + 1) % group.size(); }
int before(const ProcessGroup& group) { return (group.rank() + group.size() - 1) % group.size(); }

}  // namespace

DISTRUN_SUITE(Messages, .skip = {needs_gpus_for_nccl()});

DISTRUN_TEST(Messages, go_round, .skip = {not_alone_with_nccl()}) {
  const auto group = init_process_group(rank);
  for (const std::int64_t count : {std::int64_t{0}, std::int64_t{1}, std::int64_t{3000}, kLarge}) {
    const Tensor got = here(tensor::zeros({count}));
    const Work receiving = group->receive(got, before(*group), 0, {.async = true});
    const Tensor own = numbers_of(rank.rank(), count);
    const Work sending = group->send(own, after(*group), 0, {.async = true});
    receiving.wait();
    sending.wait();
    expect_same(got, numbers_of(before(*group), count));
    DISTRUN_EXPECT(receiving.source_rank() == before(*group));
  }
}

DISTRUN_TEST(Messages, of_one_tag_come_in_order, .skip = {not_alone_with_nccl()}) {
  const auto group = init_process_group(rank);
  constexpr int kMessages = 100;
  std::vector<Work> sending;
  for (int i = 0; i < kMessages; ++i) {
    sending.push_back(group->send(here(tensor::full({i % 3 == 0 ? 5000 : 1}, i)), after(*group), 7, {.async = true}));
  }
  for (int i = 0; i < kMessages; ++i) {
    const Tensor got = here(tensor::zeros({i % 3 == 0 ? 5000 : 1}));
    group->receive(got, before(*group), 7);
    expect_same(got, here(tensor::full(got.sizes(), i)));
  }
  for (const Work& each : sending) each.wait();
}

DISTRUN_TEST(Messages, are_told_apart_by_their_tags, .skip = {not_with_nccl("its messages have no tags")}) {
  const auto group = init_process_group(rank);
  for (std::uint64_t tag = 0; tag < 5; ++tag)
    group->send(here(tensor::full({2}, static_cast<double>(tag))), after(*group), tag);
  for (std::uint64_t tag = 5; tag-- > 0;) {
    const Tensor got = here(tensor::zeros({2}));
    group->receive(got, before(*group), tag);
    expect_same(got, here(tensor::full({2}, static_cast<double>(tag))));
  }
}

DISTRUN_TEST(Messages, come_from_any_rank, .skip = {needs_collective("sendrecv anysource")}) {
  const auto group = init_process_group(rank);
  if (rank.rank() != 0) {
    group->send(numbers_of(rank.rank(), 100), 0, 3);
    return group->barrier().wait();
  }
  std::vector<int> from;
  for (int i = 1; i < group->size(); ++i) {
    const Tensor got = here(tensor::zeros({100}));
    const Work work = group->receive_from_any(got, 3);
    expect_same(got, numbers_of(work.source_rank(), 100));
    from.push_back(work.source_rank());
  }
  std::sort(from.begin(), from.end());
  for (int i = 1; i < group->size(); ++i) DISTRUN_EXPECT(from[static_cast<std::size_t>(i) - 1] == i);
  group->barrier();
}

DISTRUN_TEST(Messages, go_to_oneself, .skip = {not_with_nccl("a rank cannot send to itself")}) {
  const auto group = init_process_group(rank);
  const Tensor own = numbers_of(rank.rank(), 20), got = here(tensor::zeros({20}));
  group->send(own, rank.rank());
  group->receive(got, rank.rank());
  expect_same(got, own);
}

DISTRUN_TEST(Messages, that_do_not_come_in_time_end_nothing,
             .skip = {not_with_nccl("a message that does not arrive ends the group")}) {
  const auto group = init_process_group(rank);
  const Tensor got = here(tensor::zeros({1}));
  DISTRUN_EXPECT_THROWS(Error, "timed out",
                        group->receive(got, before(*group), 9, {.timeout = std::chrono::milliseconds(20)}));
  group->barrier();
  const Tensor large = here(tensor::zeros({kLarge}));
  DISTRUN_EXPECT_THROWS(Error, "timed out",
                        group->send(large, after(*group), 10, {.timeout = std::chrono::milliseconds(20)}));
  group->barrier();
  group->send(here(tensor::ones({1})), after(*group), 9);
  group->receive(got, before(*group), 9);
  expect_same(got, here(tensor::ones({1})));
}

DISTRUN_TEST(Messages, of_another_size_or_dtype_are_refused,
             .skip = {not_with_nccl("a message of another size ends the group")}) {
  const auto group = init_process_group(rank);
  group->send(here(tensor::ones({4})), after(*group));
  const Tensor got = here(tensor::zeros({3}));
  DISTRUN_EXPECT_THROWS(Error, "has sent 4 elements of float32 (tag 0)", group->receive(got, before(*group)));
  group->send(here(tensor::ones({4}, {DType::I32})), after(*group));
  const Tensor other = here(tensor::zeros({4}));
  DISTRUN_EXPECT_THROWS(Error, "has sent 4 elements of int32 (tag 0)", group->receive(other, before(*group)));
}
