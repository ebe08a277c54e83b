#include <catch2/catch.hpp>

#include <distrun/common/base/rank_list.hpp>

using namespace distrun::base;

TEST_CASE("ranks are listed with runs of them as ranges") {
  CHECK(rank_list({}).empty());
  CHECK(rank_list({2}) == "2");
  CHECK(rank_list({0, 1}) == "0-1");
  CHECK(rank_list({0, 2, 3, 5, 6, 7}) == "0, 2-3, 5-7");
  CHECK(rank_list({-1, 0, 1}) == "host, 0-1");
}

TEST_CASE("a label of ranks stays short") {
  CHECK(ranks_label({2}) == "rank 2");
  CHECK(ranks_label({-1}) == "the host");
  CHECK(ranks_label({0, 1}) == "ranks 0-1");
  CHECK(ranks_label({0, 1, 2, 5}) == "ranks 0-2, 5");
  std::vector<int> even;
  for (int rank = 0; rank < 256; rank += 2) even.push_back(rank);
  CHECK(ranks_label(even) == "128 ranks (0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, ...)");
}
