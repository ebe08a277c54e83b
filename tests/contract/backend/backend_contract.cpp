#include "backend_contract.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/core/rank_state.hpp>
#include <distrun/runtime/future/unseen_errors.hpp>

namespace distrun::collectives {
namespace {

using namespace std::chrono_literals;

using Data = std::vector<std::uint8_t>;

// Returns bytes that differ by rank, position and number.
Data data_of(int rank, std::size_t size, int number = 0) {
  Data data(size);
  for (std::size_t i = 0; i < size; ++i)
    data[i] = static_cast<std::uint8_t>(i * 7 + static_cast<std::size_t>(rank) * 31 + static_cast<std::size_t>(number));
  return data;
}

Data sum_of_all(const GroupInfo& group, std::size_t size, int number) {
  Data sum(size);
  for (int rank = 0; rank < group.size(); ++rank) {
    const Data each = data_of(rank, size, number);
    for (std::size_t i = 0; i < size; ++i) sum[i] = static_cast<std::uint8_t>(sum[i] + each[i]);
  }
  return sum;
}

ConstBytes read(const Data& data) { return std::as_bytes(std::span(data)); }
Bytes write(Data& data) { return std::as_writable_bytes(std::span(data)); }

void expect(bool holds, const std::string& what) {
  if (!holds) throw std::runtime_error("not so: " + what);
}

Call call_of(CallKind kind, std::uint64_t number, base::Nanoseconds bound = 60s) {
  Call call;
  call.kind = kind;
  call.number = number;
  call.timeout = bound;
  call.deadline = base::system_clock().now() + bound;
  return call;
}

void check_all(const std::vector<std::string>& thrown) {
  for (std::size_t rank = 0; rank < thrown.size(); ++rank) {
    INFO("rank " << rank << ": " << thrown[rank]);
    CHECK(thrown[rank].empty());
  }
}

// Returns a call with a root and its operands; they are in `data`, which has a part for each rank.
Call rooted_call(CallKind kind, std::uint64_t number, int root, const GroupInfo& group, std::vector<Data>& data) {
  constexpr std::size_t kSize = 16;
  data.assign(group.ranks.size() + 1, Data(kSize, static_cast<std::uint8_t>(group.rank)));
  const bool is_root = root == group.rank;
  Call call = call_of(kind, number);
  call.root = root;
  call.sizes = ShownSizes(std::array{static_cast<std::int64_t>(kSize)});
  const bool reads = kind != CallKind::Broadcast && kind != CallKind::Scatter;
  const bool has_parts = kind == CallKind::Scatter || kind == CallKind::Gather;
  if (reads || (is_root && !has_parts)) call.in = {read(data.back())};
  if (kind == CallKind::Scatter || (is_root && kind == CallKind::Reduce) || (!is_root && !reads)) {
    call.out = {write(data.back())};
  }
  for (std::size_t i = 0; is_root && has_parts && i + 1 < data.size(); ++i) {
    if (reads) call.out.push_back(write(data[i]));
    if (!reads) call.in.push_back(read(data[i]));
  }
  return call;
}

// Checks that every rank got the error, from its own detection or from the end of the group.
void check_told(const std::vector<std::string>& thrown, const std::string& what) {
  bool is_found = false;
  for (std::size_t rank = 0; rank < thrown.size(); ++rank) {
    INFO("rank " << rank << ": " << thrown[rank]);
    is_found = is_found || thrown[rank].find(what) != std::string::npos;
    CHECK((thrown[rank].find("make different calls") != std::string::npos ||
           thrown[rank].find("has given up the group") != std::string::npos));
  }
  CHECK(is_found);
}

const int kRanks[] = {1, 2, 3, 5};
// Empty, one byte, reduced in one piece, reduced in several, and more than the shared buffer.
const std::size_t kSizes[] = {0, 1, 1000, 20'000, 900'001};

}  // namespace

TEST_CASE("each rank gets the data of the others") {
  const int ranks = GENERATE(from_range(std::begin(kRanks), std::end(kRanks)));
  check_all(run_ranks(ranks, [](HostBackend& backend, const GroupInfo& group) {
    std::uint64_t number = 0;
    for (const std::size_t size : kSizes) {
      const Data own = data_of(group.rank, size);
      std::vector<Data> all(group.ranks.size(), Data(size));
      Call call = call_of(CallKind::AllGather, ++number);
      call.in = {read(own)};
      for (Data& each : all) call.out.push_back(write(each));
      backend.run(call);
      for (int rank = 0; rank < group.size(); ++rank) {
        expect(all[static_cast<std::size_t>(rank)] == data_of(rank, size), "all_gather of " + std::to_string(size));
      }
    }
  }));
}

TEST_CASE("sums are the same on all ranks, and in place") {
  const int ranks = GENERATE(from_range(std::begin(kRanks), std::end(kRanks)));
  check_all(run_ranks(ranks, [](HostBackend& backend, const GroupInfo& group) {
    std::uint64_t number = 0;
    for (const std::size_t size : kSizes) {
      Data own = data_of(group.rank, size);
      Call call = call_of(CallKind::AllReduce, ++number);
      call.in = {read(own)};
      call.out = {write(own)};
      backend.run(call);
      expect(own == sum_of_all(group, size, 0), "all_reduce of " + std::to_string(size));
    }
  }));
}

TEST_CASE("a root broadcasts and scatters") {
  const int ranks = GENERATE(from_range(std::begin(kRanks), std::end(kRanks)));
  check_all(run_ranks(ranks, [](HostBackend& backend, const GroupInfo& group) {
    std::uint64_t number = 0;
    for (const std::size_t size : kSizes) {
      const int root = static_cast<int>(number) % group.size();
      Data data = group.rank == root ? data_of(root, size) : Data(size);
      Call broadcast = call_of(CallKind::Broadcast, ++number);
      broadcast.root = root;
      if (group.rank == root) {
        broadcast.in = {read(data)};
      } else {
        broadcast.out = {write(data)};
      }
      backend.run(broadcast);
      expect(data == data_of(root, size), "broadcast of " + std::to_string(size));

      std::vector<Data> parts;
      for (int rank = 0; rank < group.size(); ++rank) parts.push_back(data_of(rank, size, 5));
      Data own(size);
      Call scatter = call_of(CallKind::Scatter, ++number);
      scatter.root = root;
      for (const Data& each : parts) {
        if (group.rank == root) scatter.in.push_back(read(each));
      }
      scatter.out = {write(own)};
      backend.run(scatter);
      expect(own == data_of(group.rank, size, 5), "scatter of " + std::to_string(size));
    }
  }));
}

TEST_CASE("a root gathers the data of all, and their sum") {
  const int ranks = GENERATE(from_range(std::begin(kRanks), std::end(kRanks)));
  check_all(run_ranks(ranks, [](HostBackend& backend, const GroupInfo& group) {
    std::uint64_t number = 0;
    for (const std::size_t size : kSizes) {
      const int root = static_cast<int>(number) % group.size();
      const Data own = data_of(group.rank, size);
      std::vector<Data> all(group.ranks.size(), Data(size));
      Call gather = call_of(CallKind::Gather, ++number);
      gather.root = root;
      gather.in = {read(own)};
      for (Data& each : all) {
        if (group.rank == root) gather.out.push_back(write(each));
      }
      backend.run(gather);
      Data sum(size);
      Call reduce = call_of(CallKind::Reduce, ++number);
      reduce.root = root;
      reduce.in = {read(own)};
      if (group.rank == root) reduce.out = {write(sum)};
      backend.run(reduce);
      if (group.rank != root) continue;
      for (int rank = 0; rank < group.size(); ++rank) {
        expect(all[static_cast<std::size_t>(rank)] == data_of(rank, size), "gather of " + std::to_string(size));
      }
      expect(sum == sum_of_all(group, size, 0), "reduce of " + std::to_string(size));
    }
  }));
}

TEST_CASE("each rank gets the sum of its piece, and pieces may be anywhere") {
  const int ranks = GENERATE(from_range(std::begin(kRanks), std::end(kRanks)));
  check_all(run_ranks(ranks, [](HostBackend& backend, const GroupInfo& group) {
    std::uint64_t number = 0;
    for (const std::size_t size : kSizes) {
      std::vector<Data> pieces;
      for (int to = 0; to < group.size(); ++to) pieces.push_back(data_of(group.rank, size, to));
      Data own(size);
      Call call = call_of(CallKind::ReduceScatter, ++number);
      for (const Data& each : pieces) call.in.push_back(read(each));
      call.out = {write(own)};
      backend.run(call);
      expect(own == sum_of_all(group, size, group.rank), "reduce_scatter of " + std::to_string(size));
    }
  }));
}

TEST_CASE("pieces of different sizes are exchanged between all ranks") {
  const int ranks = GENERATE(from_range(std::begin(kRanks), std::end(kRanks)));
  check_all(run_ranks(ranks, [](HostBackend& backend, const GroupInfo& group) {
    const auto size_of = [](int from, int to) { return static_cast<std::size_t>(from * 70'001 + to * 3); };
    std::vector<Data> in, out;
    for (int other = 0; other < group.size(); ++other) {
      in.push_back(data_of(group.rank, size_of(group.rank, other), other));
      out.emplace_back(size_of(other, group.rank));
    }
    Call call = call_of(CallKind::AllToAll, 1);
    for (const Data& each : in) call.in.push_back(read(each));
    for (Data& each : out) call.out.push_back(write(each));
    backend.run(call);
    for (int other = 0; other < group.size(); ++other) {
      expect(out[static_cast<std::size_t>(other)] == data_of(other, size_of(other, group.rank), group.rank),
             "all_to_all");
    }
  }));
}

TEST_CASE("messages arrive in order and by their tags, also large ones") {
  const int ranks = GENERATE(2, 3);
  check_all(run_ranks(ranks, [](HostBackend& backend, const GroupInfo& group) {
    const auto until = base::system_clock().now() + 5s;
    const int to = (group.rank + 1) % group.size(), from = (group.rank + group.size() - 1) % group.size();
    constexpr int kMessages = 20;
    const int tags = letters_have_tags() ? 2 : 1;
    std::vector<Data> sent;
    for (int i = 0; i < kMessages; ++i) sent.push_back(data_of(group.rank, i % 4 == 0 ? 100'000 : 10, i));
    std::vector<std::unique_ptr<Transfer>> sending;
    for (int i = 0; i < kMessages; ++i) {
      sending.push_back(backend.begin_send({to, static_cast<std::uint64_t>(i % tags), DType::U8, {}},
                                           read(sent[static_cast<std::size_t>(i)])));
    }
    for (int tag = tags; tag-- > 0;) {
      for (int i = tag; i < kMessages; i += tags) {
        Data got(i % 4 == 0 ? 100'000 : 10);
        const int source =
            backend.begin_receive({from, static_cast<std::uint64_t>(tag), DType::U8, {}}, write(got))->finish(until);
        expect(source == from, "the sender is known");
        expect(got == data_of(from, got.size(), i), "letter " + std::to_string(i));
      }
    }
    for (const auto& each : sending) each->finish(until);
  }));
}

TEST_CASE("an absent rank is waited for until the deadline, and named") {
  const std::vector<std::string> thrown = run_ranks(3, [](HostBackend& backend, const GroupInfo& group) {
    if (group.rank != 1) return backend.run(call_of(CallKind::Barrier, 1, 200ms));
    // Rank 1 waits for a message that is never sent; in the end it is notified that the others have given up.
    Data got(1);
    backend.begin_receive({0, 1, DType::U8, {}}, write(got))->finish(base::system_clock().now() + 60s);
  });
  const auto says = [](const char* part) { return Catch::Contains(part); };
  CHECK_THAT(thrown[1], says("a receive from rank 0 in group world") && says("rank 0 has given up the group: "));
  for (const std::size_t rank : {0U, 2U}) {
    // Or a consequence: another rank has given up first, or rank 1 has left because of that.
    CHECK_THAT(thrown[rank],
               (says("barrier number 1 of group world has timed out after 200.0 ms") && says("waits for rank 1")) ||
                   says("has given up the group") || says("rank 1 has left the group"));
  }
}

TEST_CASE("ranks that wait are notified of a rank that leaves") {
  const std::vector<std::string> thrown = run_ranks(3, [](HostBackend& backend, const GroupInfo& group) {
    if (group.rank == 2) return backend.leave(Leaving::GaveUp, "it has better things to do");
    backend.run(call_of(CallKind::Barrier, 1));
  });
  CHECK(thrown[2].empty());
  for (const std::size_t rank : {0U, 1U}) CHECK_THAT(thrown[rank], Catch::Contains("has given up the group: "));
}

TEST_CASE("different calls of the ranks are reported") {
  const std::vector<std::string> thrown = run_ranks(3, [](HostBackend& backend, const GroupInfo& group) {
    Data own(group.rank == 1 ? 8 : 4);
    Call call = call_of(CallKind::AllReduce, 1);
    call.sizes = ShownSizes(std::array{static_cast<std::int64_t>(own.size())});
    call.in = {read(own)};
    call.out = {write(own)};
    backend.run(call);
  });
  for (const std::string& each : thrown) {
    CHECK_THAT(each, Catch::Contains("rank 1 is in all_reduce number 1, sum, uint8 [8]") ||
                         Catch::Contains("has given up the group"));
  }
}

TEST_CASE("a different root of one rank is reported to all, even if no rank waits for that rank") {
  const CallKind kind = GENERATE(CallKind::Broadcast, CallKind::Reduce, CallKind::Gather, CallKind::Scatter);
  const int wrong = GENERATE(0, 2);  // the other ranks use root 1
  const std::vector<std::string> thrown = run_ranks(3, [&](HostBackend& backend, const GroupInfo& group) {
    std::vector<Data> data;
    backend.run(rooted_call(kind, 1, group.rank == wrong ? wrong : 1, group, data));
    backend.run(call_of(CallKind::Barrier, 2));
  });
  check_told(thrown, "rank " + std::to_string(wrong) + " is in " + name_of(kind) + " number 1, ");
}

TEST_CASE("a rank that calls something else than the others' broadcast is named") {
  const CallKind other = GENERATE(CallKind::Reduce, CallKind::Scatter, CallKind::Barrier);
  const int who = GENERATE(1, 2);
  const std::vector<std::string> thrown = run_ranks(3, [&](HostBackend& backend, const GroupInfo& group) {
    std::vector<Data> data;
    const bool is_it = group.rank == who;
    if (is_it && other == CallKind::Barrier) return backend.run(call_of(other, 1));
    backend.run(rooted_call(is_it ? other : CallKind::Broadcast, 1, 0, group, data));
    backend.run(call_of(CallKind::Barrier, 2));
  });
  check_told(thrown, "rank " + std::to_string(who) + " is in " + name_of(other) + " number 1");
}

// Either the others are notified that it has left, or it detects that they have gone on.
TEST_CASE("a rank that leaves without joining the others' broadcast is reported") {
  for (int i = 0; i < 20; ++i) {
    const std::vector<std::string> thrown = run_ranks(3, [](HostBackend& backend, const GroupInfo& group) {
      std::vector<Data> data;
      if (group.rank != 2) backend.run(rooted_call(CallKind::Broadcast, 1, 0, group, data));
      backend.leave(Leaving::Done, "");
      for (const auto& each : future::unseen_errors_of(core::rank_state()).take_failures())
        std::rethrow_exception(each);
    });
    const auto tells = [](const std::string& text) { return text.find("rank 2 has left the group") < text.size(); };
    CAPTURE(thrown);
    CHECK(std::any_of(thrown.begin(), thrown.end(), tells));
  }
}

}  // namespace distrun::collectives
