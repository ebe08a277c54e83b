// Workers that join while others are unreachable, die or leave.
#include <catch2/catch.hpp>

#include <poll.h>

#include <atomic>
#include <csignal>
#include <memory>
#include <optional>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/rpc/calls/call.hpp>
#include <distrun/runtime/rpc/functions/register.hpp>
#include <distrun/runtime/rpc/session/detail/member_log.hpp>
#include <distrun/runtime/rpc/session/session.hpp>
#include <distrun/runtime/store/file_store.hpp>

#include "members.hpp"
#include "struck_agent.hpp"
#include "support/limits.hpp"
#include "support/process.hpp"
#include "support/sandbox.hpp"
#include "support/scratch.hpp"

namespace distrun::rpc::testing {
namespace {

using namespace std::chrono_literals;

int whoever() { return get_worker_info().id(); }
DISTRUN_RPC(whoever)

// Parameters shared by all members of a cell.
class Elastic {
 public:
  explicit Elastic(std::string folder, std::vector<std::string> transports = {})
      : store_(std::move(folder) + "/store"), transports_(std::move(transports)) {}

  void join(int rank) const {
    auto options = std::make_shared<PipeOptions>();
    options->init_timeout = 20;
    options->transports = transports_;
    options->store = std::make_shared<FileStore>(store_);
    init_rpc({"worker" + std::to_string(rank), struck_backend(), rank, {}, options});
  }
  std::vector<rpc::Member> members() const {
    return MemberLog(std::make_shared<PrefixStore>("rpc", std::make_shared<FileStore>(store_))).members();
  }
  static void ask(int rank) {
    if (rpc_sync<int>("worker" + std::to_string(rank), "whoever") != rank) throw Error(ErrorKind::Failed, "another");
  }

 private:
  const std::string store_;
  const std::vector<std::string> transports_;
};

// Runs a cell in a separate process and returns its lines.
Lines lines_of(const std::function<Lines()>& cell) { return conduct({cell}, 1).front(); }

// Two members exist and one joins them; then the others call it. Returns the lines of all. The first member calls
// `strikes` before it joins, the joining one calls `fails`.
Lines joined(const std::string& folder, const std::function<void()>& strikes, const std::function<void()>& fails) {
  const Elastic group(folder);
  const auto stay = [&](int rank, const std::function<void()>& prepare) {
    return [&group, rank, &prepare](const Post& post) {
      if (prepare) prepare();
      group.join(rank);
      post.meet("in");
      post.tell(timed("ask" + std::to_string(rank), [] { Elastic::ask(2); }));
      post.meet("done");
    };
  };
  Lines told;
  const std::function<void()> nothing;
  Member first(stay(0, strikes));
  if (!first.lines_up_to("in", "", told)) return told;
  Member second(stay(1, nothing));
  if (!second.lines_up_to("in", "", told)) return told;
  Member joins([&](const Post& post) {
    if (fails) fails();
    post.tell(timed("join", [&] { group.join(2); }));
    post.tell(timed("ask2", [] { Elastic::ask(1); }));
    post.meet("in");
  });
  if (!joins.lines_up_to("in", "", told)) return told;
  if (strikes) first.wait_struck();
  for (Member* each : {&first, &second}) {
    if (each == &first && strikes) continue;
    each->go_on();
    each->lines_up_to("done", "", told);
  }
  return told;
}

void check_well(const Lines& lines, const std::vector<std::string>& phases) {
  std::string all;
  for (const std::string& each : lines) all += "\n  " + each;
  INFO("all lines:" << all);
  REQUIRE(lines.size() == phases.size());
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const Timed came = timed_of(lines[i]);
    CHECK(came.phase == phases[i]);
    CHECK(came.text == "done");
    CHECK(came.seconds < std::chrono::duration<double>(distrun::testing::at_latest(5000ms)).count());
  }
}

}  // namespace

TEST_CASE("a member that cannot reach another at first tries again until it is known there") {
  const distrun::testing::Scratch scratch;
  const auto refuse = [] {
    script().reach = [left = std::make_shared<std::atomic<int>>(3)](Step step) {
      if (step != Step::Send || left->fetch_sub(1) <= 0) return;
      throw Error(ErrorKind::Disconnected, "worker0 refuses: it knows another one");
    };
  };
  const Lines lines = lines_of([&] { return joined(scratch.path(), {}, refuse); });
  check_well(lines, {"join", "ask2", "ask0", "ask1"});
}

// The end of a shortage is no event: nothing but the passing of time makes the members accept the workers that wait.
TEST_CASE("workers join soon after the members that had no descriptors for them have some again") {
  const std::string transport = GENERATE("shm", "uds", "tcp");
  const int room = GENERATE(0, 2);
  CAPTURE(transport, room);
  const distrun::testing::Scratch scratch;
  const Elastic group(scratch.path(), {transport});
  const auto be_short = [&](int rank) {
    return [&group, rank, room](const Post& post) {
      group.join(rank);
      post.meet("in");
      std::optional<distrun::testing::FewFiles> few(std::in_place, room);
      post.tell("short");
      (void)::poll(nullptr, 0, 300);
      few.reset();
      post.wait();
    };
  };
  const auto join = [&](int rank) {
    return [&group, rank](const Post& post) {
      post.tell(timed("join", [&] { group.join(rank); }));
      post.meet("in");
    };
  };
  const Lines lines = lines_of([&] {
    Lines told;
    Member first(be_short(0));
    if (!first.lines_up_to("in", "", told)) return told;
    Member second(be_short(1));
    if (!second.lines_up_to("in", "", told)) return told;
    for (Member* each : {&first, &second}) {
      each->go_on();
      each->lines_up_to("short", "", told);
    }
    Member third(join(2)), fourth(join(3));
    for (Member* each : {&third, &fourth}) each->lines_up_to("in", "", told);
    return told;
  });
  check_well(lines, {"join", "join"});
}

// Otherwise there would be two groups in one log, which know nothing of each other.
TEST_CASE("a worker that cannot reach a present member does not join, and its error says why") {
  const distrun::testing::Scratch scratch;
  const Elastic group(scratch.path());
  const Lines lines = lines_of([&] {
    Lines told;
    Member first([&](const Post& post) {
      group.join(0);
      post.meet("in");
      post.tell("knows " + std::to_string(get_worker_infos().size()));
      post.meet("done");
    });
    if (!first.lines_up_to("in", "", told)) return told;
    Member joins([&](const Post& post) {
      script().reach = [](Step step) {
        if (step == Step::Send) throw Error(ErrorKind::Disconnected, "too many open files");
      };
      post.tell(timed("join", [&] { group.join(1); }));
      script().reach = {};
      post.tell(timed("again", [&] { group.join(1); }));
      post.tell(timed("ask0", [] { Elastic::ask(0); }));
      post.meet("in");
    });
    if (!joins.lines_up_to("in", "", told)) return told;
    first.go_on();
    first.lines_up_to("done", "", told);
    return told;
  });
  REQUIRE(lines.size() == 4);
  CHECK_THAT(timed_of(lines[0]).text, Catch::StartsWith("disconnected: joining the RPC group: worker0 (rank 0) does "
                                                        "not take note: ") &&
                                          Catch::Contains("too many open files"));
  CHECK(timed_of(lines[1]).text == "done");
  CHECK(timed_of(lines[2]).text == "done");
  CHECK(lines[3] == "knows 2");
}

// The dead member refuses the connection; to learn that it is gone takes another one.
TEST_CASE("a worker that has no descriptors to find out whether a member is gone says so, and joins when it has some") {
  const distrun::testing::Scratch scratch;
  const Elastic group(scratch.path());
  const Lines lines = lines_of([&] {
    Lines told;
    Member first([&](const Post& post) {
      group.join(0);
      post.meet("in");
    });
    if (!first.lines_up_to("in", "", told)) return told;
    ::kill(first.pid(), SIGKILL);
    first.wait_struck();
    Member joins([&](const Post& post) {
      std::optional<distrun::testing::FewFiles> few;
      script().reach = [&few](Step step) {
        if (step != Step::Send) return;
        if (!few) few.emplace(0);
        throw Error(ErrorKind::Disconnected, "worker0 cannot be reached: Connection refused");
      };
      post.tell(timed("join", [&] { group.join(1); }));
      script().reach = {};
      few.reset();
      post.tell(timed("again", [&] { group.join(1); }));
      post.tell("knows " + std::to_string(get_worker_infos().size()));
      post.meet("done");
    });
    joins.lines_up_to("done", "", told);
    return told;
  });
  REQUIRE(lines.size() == 3);
  CHECK_THAT(timed_of(lines[0]).text,
             Catch::StartsWith("overloaded: joining the RPC group: worker0 (rank 0) does not "
                               "take note: cannot find out whether worker0 is still there: ") &&
                 Catch::Contains("(EMFILE)"));
  CHECK(timed_of(lines[1]).text == "done");
  CHECK(lines[2] == "knows 1");
}

TEST_CASE("a member that is killed when it is notified of a new one does not keep it from joining") {
  const distrun::testing::Scratch scratch;
  const auto die = [] {
    script().reach = [count = std::make_shared<std::atomic<int>>(0)](Step step) {
      if (step == Step::Receive && count->fetch_add(1) == 1) ::raise(SIGKILL);
    };
  };
  const Lines lines = lines_of([&] { return joined(scratch.path(), die, {}); });
  check_well(lines, {"join", "ask2", "ask1"});
}

TEST_CASE("another worker joins at once in the place of a killed one, and later ones do not wait") {
  const distrun::testing::Scratch scratch;
  const Elastic group(scratch.path());
  const Lines lines = lines_of([&] {
    Lines told;
    const auto member = [&](int rank, const std::string& phase) {
      return std::make_unique<Member>([&group, rank, phase](const Post& post) {
        post.tell(timed(phase, [&] { group.join(rank); }));
        post.meet("in");
        post.tell(timed("ask", [] { Elastic::ask(1); }));
        post.tell("knows " + std::to_string(get_worker_infos().size()));
        post.meet("done");
      });
    };
    const auto first = member(0, "first");
    first->lines_up_to("in", "", told);
    const auto killed = member(1, "second");
    killed->lines_up_to("in", "", told);
    ::kill(killed->pid(), SIGKILL);
    killed->wait_struck();
    const auto next = member(1, "next");
    next->lines_up_to("in", "", told);
    const auto last = member(2, "later");
    last->lines_up_to("in", "", told);
    for (Member* each : {first.get(), next.get(), last.get()}) {
      each->go_on();
      each->lines_up_to("done", "", told);
    }
    return told;
  });
  std::string all;
  for (const std::string& each : lines) all += "\n  " + each;
  INFO("all lines:" << all);
  REQUIRE(lines.size() == 10);
  for (const std::size_t at : {2, 3}) {
    CHECK(timed_of(lines[at]).text == "done");
    // An unreachable member that may be alive is tried for a second.
    CHECK(timed_of(lines[at]).seconds < std::chrono::duration<double>(distrun::testing::at_latest(900ms)).count());
  }
  for (const std::size_t at : {4, 6, 8}) {
    CHECK(timed_of(lines[at]).text == "done");
    CHECK(lines[at + 1] == "knows 3");
  }
}

// Its request to be added may be handled when the end of its connection has been noticed already.
TEST_CASE("a worker that has died before a member adds it does not stay on the list") {
  const std::string transport = GENERATE("shm", "uds", "tcp");
  const distrun::testing::Scratch scratch;
  const Elastic group(scratch.path(), {transport});
  const Lines lines = lines_of([&] {
    Lines told;
    Member first([&](const Post& post) {
      group.join(0);
      post.meet("in");
      const std::vector<rpc::Member> members = group.members();
      post.tell("members " + std::to_string(members.size()));
      post.tell(rpc_sync<bool>("worker0", "distrun.join", to_text(members.back())) ? "added" : "refused");
      const auto is_alone = [] { return get_worker_infos().size() == 1; };
      post.tell(distrun::testing::eventually(distrun::testing::scaled(10s), is_alone) ? "removed" : "still there");
      post.meet("done");
    });
    first.lines_up_to("in", "", told);
    Member dies([&](const Post&) {
      script().reach = [](Step step) {
        if (step == Step::Send) ::raise(SIGKILL);
      };
      group.join(1);
    });
    dies.wait_struck();
    first.go_on();
    first.lines_up_to("done", "", told);
    return told;
  });
  CHECK(lines == Lines{"members 2", "added", "removed"});
}

TEST_CASE("all members join and leave again and again, while others are leaving") {
  const distrun::testing::Scratch scratch;
  const Elastic group(scratch.path());
  constexpr int kMembers = 3, kRounds = 15;
  const Lines lines = lines_of([&] {
    Lines told;
    std::vector<std::unique_ptr<Member>> members;
    for (int rank = 0; rank < kMembers; ++rank) {
      members.push_back(std::make_unique<Member>([&group, rank](const Post& post) {
        post.meet("ready");
        post.tell(timed("rounds", [&] {
          for (int round = 0; round < kRounds; ++round) {
            group.join(rank);
            rpc::shutdown({.graceful = (round + rank) % 3 != 0});
          }
        }));
        post.meet("end");
      }));
    }
    for (const auto& each : members) each->lines_up_to("ready", "", told);
    for (const auto& each : members) each->go_on();
    for (const auto& each : members) each->lines_up_to("end", "", told);
    return told;
  });
  REQUIRE(lines.size() == kMembers);
  for (const std::string& each : lines) CHECK(timed_of(each).text == "done");
}

}  // namespace distrun::rpc::testing
