// The references that a rank shows.
#include <unistd.h>

#include <algorithm>

#include <distrun/common/ledger/ledger.hpp>
#include <distrun/runtime/rref/references.hpp>

#include "reference_ranks.hpp"

namespace distrun::rref {
namespace {

using Number = RRef<std::int64_t>;
struct Link {
  RRef<Link> next;
  void set(const RRef<Link>& to) { next = to; }
  void visit_references(const rpc::ReferenceVisitor& visit) const {
    if (next) visit(next.reference());
  }
};
const auto link_class = rpc::RegisterClass<Link>("UnitLink").constructor<>().method("set", &Link::set, {"to"});
std::int64_t page_seven(std::int64_t) { return 7; }
DISTRUN_RPC(page_seven)

std::optional<ledger::Page> page_of(const std::string& name) {
  for (auto& page : ledger::read_pages(::getpid())) {
    if (page.name == name && (page.owned != 0 || page.held != 0)) return std::move(page);
  }
  return std::nullopt;
}

}  // namespace

TEST_CASE("owners show their values and the holders of them, users the references that they hold") {
  const ReferenceRanks ranks(2);
  ranks.as(0, [&] {
    const Number there = remote("worker1", page_seven, 0);
    there.creation().wait();
    const ledger::Page page = current_references()->page(8);
    REQUIRE(page.held_rows.size() == 1);
    CHECK(page.held_rows[0].owner == 1);
    CHECK(page.held_rows[0].state == "confirmed");
    CHECK(has(page.held_rows[0].site, "page_test.cpp"));
    ranks.as(1, [] {
      const ledger::Page owners = current_references()->page(8);
      REQUIRE(owners.owned_rows.size() == 1);
      CHECK(owners.owned_rows[0].type == "int");
      REQUIRE(owners.owned_rows[0].holders.size() == 1);
      CHECK(owners.owned_rows[0].holders[0].worker == 0);
      CHECK(current_references()->page(0).owned_rows.empty());
    });
    // Seen from outside, after a moment.
    CHECK(distrun::testing::eventually(scaled(std::chrono::milliseconds(5000)),
                                       [] { return page_of("worker0") && page_of("worker1"); }));
  });
  CHECK(ranks.left_over() == "");
}

TEST_CASE("values that refer to each other are a cycle") {
  const ReferenceRanks ranks(2);
  ranks.as(0, [&] {
    const auto one = remote<Link>("worker0", "UnitLink"), two = remote<Link>("worker1", "UnitLink");
    one.rpc_sync(&Link::set, two);
    two.rpc_sync(&Link::set, one);
    std::vector<ledger::Page> pages;
    for (const int rank : {0, 1}) ranks.as(rank, [&] { pages.push_back(current_references()->page(8)); });
    const auto cycles = ledger::cycles_of(pages);
    REQUIRE(cycles.size() == 1);
    CHECK(cycles[0].size() == 2);
    one.rpc_sync(&Link::set, RRef<Link>());
  });
  CHECK(ranks.left_over() == "");
}

}  // namespace distrun::rref
