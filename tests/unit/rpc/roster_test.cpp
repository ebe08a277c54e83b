// Rosters, given news of joins, leaves and losses in every order.
#include <catch2/catch.hpp>

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include <distrun/runtime/rpc/session/detail/roster.hpp>

namespace distrun::rpc {
namespace {

struct Notice {
  Member member;
  bool joins = false;
};

// A group that workers have joined, one after the other. The end of a worker may be reported twice: as its leave, and
// as the loss of its connection.
struct History {
  std::vector<Notice> notices;
  std::vector<Member> there;
};

std::string text_of(const Member& member) {
  return member.name + std::to_string(member.id) + "#" + std::to_string(member.incarnation);
}

std::string text_of(const std::vector<Member>& members) {
  std::vector<std::string> texts;
  for (const Member& each : members) texts.push_back(text_of(each));
  std::sort(texts.begin(), texts.end());
  return std::accumulate(texts.begin(), texts.end(), std::string(),
                         [](const std::string& all, const std::string& each) { return all + each + " "; });
}

// Updates the roster like ElasticGroup.
void tell(Roster& roster, const Notice& notice) {
  if (!notice.joins) return void(roster.remove(worker_of(notice.member).key()));
  if (roster.has(notice.member)) return;
  for (const Member& each : roster.predecessors_of(notice.member)) roster.remove(worker_of(each).key());
  roster.add(notice.member);
}

std::vector<Member> known_to(const Roster& roster) {
  std::vector<Member> members;
  for (const auto& [id, member] : roster.known()) members.push_back(member);
  return members;
}

bool has_namesakes(const Roster& roster) {
  std::vector<std::string> names;
  for (const auto& [id, member] : roster.known()) names.push_back(member.name);
  std::sort(names.begin(), names.end());
  return std::adjacent_find(names.begin(), names.end()) != names.end();
}

// The worker joins; earlier workers with its id or its name have left before.
History with(History history, WorkerId id, const std::string& name, std::int64_t order, bool is_told_twice) {
  Member member;
  member.name = name;
  member.id = id;
  member.order = order;
  for (const Notice& each : history.notices) {
    if (each.joins && each.member.id == id) ++member.incarnation;
  }
  for (auto each = history.there.begin(); each != history.there.end();) {
    if (each->id != id && each->name != name) {
      ++each;
      continue;
    }
    history.notices.push_back({*each, false});
    if (is_told_twice) history.notices.push_back({*each, false});
    each = history.there.erase(each);
  }
  history.notices.push_back({member, true});
  history.there.push_back(member);
  return history;
}

// Creates all groups that `joins` workers have joined, with two ids and two names.
void make_all(const History& history, int joins, std::vector<History>& all) {
  if (joins == 0) return all.push_back(history);
  for (const WorkerId id : {1, 2}) {
    for (const char* const name : {"a", "b"}) {
      make_all(with(history, id, name, static_cast<std::int64_t>(history.notices.size()), false), joins - 1, all);
      make_all(with(history, id, name, static_cast<std::int64_t>(history.notices.size()), true), joins - 1, all);
    }
  }
}

}  // namespace

TEST_CASE("a roster finally has the present members, in every order of the news") {
  std::vector<History> all;
  make_all({}, 3, all);
  int orders = 0;
  for (const History& history : all) {
    std::vector<std::size_t> order(history.notices.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    do {
      Roster roster;
      std::string told;
      bool has_two = false;
      for (const std::size_t at : order) {
        const Notice& notice = history.notices[at];
        tell(roster, notice);
        has_two = has_two || has_namesakes(roster);
        told += (notice.joins ? "+" : "-") + text_of(notice.member) + " ";
      }
      ++orders;
      if (!has_two && text_of(known_to(roster)) == text_of(history.there)) continue;
      FAIL_CHECK("told " << told << "it knows " << text_of(known_to(roster)) << "instead of " << text_of(history.there)
                         << (has_two ? "(and has had two of one name)" : ""));
    } while (std::next_permutation(order.begin(), order.end()));
  }
  CHECK(orders > 10'000);
}

TEST_CASE("the end of one worker does not affect the next one with its id") {
  Roster roster;
  Member first, second;
  first.name = second.name = "worker1";
  first.id = second.id = 1;
  second.incarnation = 2;
  second.order = 1;
  roster.add(first);
  CHECK(roster.remove({1, 1}));
  roster.add(second);
  CHECK_FALSE(roster.remove({1, 1}));
  CHECK(roster.find({1, 2}));
  CHECK_FALSE(roster.find({1, 1}));
  CHECK(roster.has(first));  // and it is not added again
}

}  // namespace distrun::rpc
