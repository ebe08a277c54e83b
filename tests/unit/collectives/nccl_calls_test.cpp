// The translation of calls to NCCL's functions, without NCCL: each rank's requests are recorded, and messages
// delivered.
#include <catch2/catch.hpp>

#include <cstring>
#include <deque>
#include <map>
#include <numeric>

#include <distrun/runtime/collectives/nccl/nccl_calls.hpp>

namespace distrun::collectives::nccl_line {
namespace {

using Data = std::vector<std::uint8_t>;

struct PointToPoint {
  const std::byte* from = nullptr;
  std::byte* to = nullptr;
  std::size_t bytes = 0;
};

// Messages of all ranks.
struct Post {
  std::map<std::pair<int, int>, std::deque<PointToPoint>> sent, received;  // by sender and receiver

  void deliver() {
    REQUIRE(sent.size() == received.size());
    for (auto& [way, messages] : sent) {
      REQUIRE(messages.size() == received[way].size());
      for (std::size_t i = 0; i < messages.size(); ++i) {
        REQUIRE(messages[i].bytes == received[way][i].bytes);
        std::memcpy(received[way][i].to, messages[i].from, messages[i].bytes);
      }
    }
  }
};

struct NotedApi {
  Post& post;
  int rank;
  std::string asked{};
  bool in_group = false;

  void begin_group() { in_group = true; }
  void end_group() { in_group = false; }
  void barrier() { asked += "barrier "; }
  void broadcast(const void*, void*, std::size_t bytes, int root) {
    asked += "broadcast " + std::to_string(bytes) + " from " + std::to_string(root) + " ";
  }
  void all_gather(const void*, void*, std::size_t bytes) { asked += "all_gather " + std::to_string(bytes) + " "; }
  void all_reduce(const void*, void*, std::size_t elements, DType, ReduceOp) {
    asked += "all_reduce " + std::to_string(elements) + " ";
  }
  void reduce(const void*, void*, std::size_t elements, DType, ReduceOp, int root) {
    asked += "reduce " + std::to_string(elements) + " to " + std::to_string(root) + (in_group ? " in group " : " ");
  }
  void reduce_scatter(const void*, void*, std::size_t elements, DType, ReduceOp) {
    asked += "reduce_scatter " + std::to_string(elements) + " ";
  }
  // Outside a group a send could wait for a receive that is called later.
  void send(const void* from, std::size_t bytes, int to) {
    if (!in_group) asked += "send ";
    post.sent[{rank, to}].push_back({static_cast<const std::byte*>(from), nullptr, bytes});
  }
  void receive(void* to, std::size_t bytes, int from) {
    if (!in_group) asked += "receive ";
    post.received[{from, rank}].push_back({nullptr, static_cast<std::byte*>(to), bytes});
  }
};

constexpr int kRanks = 3;

// Returns the data of a rank for another one.
Data data_of(int from, int to) {
  return Data(static_cast<std::size_t>(from + 2), static_cast<std::uint8_t>(10 * from + to));
}

struct Pieces {
  std::vector<Data> all;
  Bytes write(std::size_t i) { return std::as_writable_bytes(std::span(all[i])); }
  ConstBytes read(std::size_t i) const { return std::as_bytes(std::span(all[i])); }
};

std::string asked_for(const Call& call, int rank = 0) {
  Post post;
  NotedApi api{post, rank};
  make_call(api, call, rank, kRanks);
  return api.asked;
}

TEST_CASE("a collective that NCCL has a function for calls that function", "[nccl]") {
  std::array<float, 12> numbers{};
  const Bytes all = std::as_writable_bytes(std::span(numbers));
  const std::vector<Bytes> whole{all.subspan(0, 16), all.subspan(16, 16), all.subspan(32, 16)};
  Call call;
  call.dtype = DType::F32;
  CHECK(asked_for(call) == "barrier ");
  call.in = {all};
  call.out = {all};
  call.kind = CallKind::AllReduce;
  CHECK(asked_for(call) == "all_reduce 12 ");
  call.root = 2;
  call.kind = CallKind::Reduce;
  CHECK(asked_for(call) == "reduce 12 to 2 ");
  call.kind = CallKind::Broadcast;
  call.out.clear();
  CHECK(asked_for(call) == "broadcast 48 from 2 ");
  call.kind = CallKind::AllGather;
  call.in = {whole[0]};
  call.out = whole;
  CHECK(asked_for(call) == "all_gather 16 ");
  call.kind = CallKind::ReduceScatter;
  call.in = {whole.begin(), whole.end()};
  call.out = {whole[1]};
  CHECK(asked_for(call) == "reduce_scatter 4 ");
  std::swap(call.in[0], call.in[1]);  // not contiguous
  CHECK(asked_for(call) == "reduce 4 to 0 in group reduce 4 to 1 in group reduce 4 to 2 in group ");
}

// Makes and delivers each rank's call; returns what each rank has received, by sender.
std::vector<Pieces> exchanged(CallKind kind, int root) {
  Post post;
  std::vector<Pieces> in(kRanks), out(kRanks);
  for (int rank = 0; rank < kRanks; ++rank) {
    const auto at = static_cast<std::size_t>(rank);
    Call call;
    call.kind = kind;
    call.root = root;
    const bool gives = kind != CallKind::Scatter || rank == root, takes = kind != CallKind::Gather || rank == root;
    for (int other = 0; other < kRanks; ++other) {
      const auto i = static_cast<std::size_t>(other);
      const bool is_all_to_all = kind == CallKind::AllToAll;
      // Except for AllToAll, all pieces have the same size.
      in[at].all.push_back(is_all_to_all ? data_of(rank, other)
                                         : Data(4, static_cast<std::uint8_t>(10 * rank + other)));
      out[at].all.emplace_back(is_all_to_all ? data_of(other, rank).size() : 4);
      const bool is_first = other == 0;
      if (gives && (is_first || kind == CallKind::Scatter || is_all_to_all)) call.in.push_back(in[at].read(i));
      if (takes && (is_first || kind != CallKind::Scatter)) call.out.push_back(out[at].write(i));
    }
    if (!gives) call.in.clear();
    NotedApi api{post, rank};
    make_call(api, call, rank, kRanks);
    CHECK(api.asked.empty());  // all in one group
  }
  post.deliver();
  return out;
}

TEST_CASE("a collective that NCCL has no function for is a group of sends and receives", "[nccl]") {
  const auto all_to_all = exchanged(CallKind::AllToAll, -1);
  const auto gathered = exchanged(CallKind::Gather, 1);
  const auto scattered = exchanged(CallKind::Scatter, 2);
  const auto all_gathered = exchanged(CallKind::AllGather, -1);
  for (int rank = 0; rank < kRanks; ++rank) {
    const auto at = static_cast<std::size_t>(rank);
    CHECK(scattered[at].all[0] == Data(4, static_cast<std::uint8_t>(20 + rank)));
    for (int other = 0; other < kRanks; ++other) {
      const auto from = static_cast<std::size_t>(other);
      CHECK(all_to_all[at].all[from] == data_of(other, rank));
      CHECK(all_gathered[at].all[from] == Data(4, static_cast<std::uint8_t>(10 * other)));
      CHECK(gathered[1].all[from] == Data(4, static_cast<std::uint8_t>(10 * other)));
    }
  }
}

TEST_CASE("a message goes from the first of two ranks to the second", "[nccl]") {
  Data sent(5, 7), got(5);
  Post post;
  Call call;
  call.kind = CallKind::Send;
  call.in = {std::as_bytes(std::span(sent))};
  NotedApi first{post, 0};
  make_call(first, call, 0, 2);
  call.in.clear();
  call.out = {std::as_writable_bytes(std::span(got))};
  NotedApi second{post, 1};
  make_call(second, call, 1, 2);
  post.deliver();
  CHECK(got == sent);
}

}  // namespace
}  // namespace distrun::collectives::nccl_line
