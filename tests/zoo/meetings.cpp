// Ranks that wait for each other in barriers and for messages, and ranks that are not waiting at all.
#include <csignal>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>

#include "zoo.hpp"

namespace {

using distrun::Rank;

void load_shard(const Rank& rank) {
  if (rank.rank() == 2) throw std::runtime_error("the shard is empty");
}

// The error path of rank 2 leads to a message that rank 0 sends only after the steps.
void train(Rank& rank) {
  try {
    load_shard(rank);
    for (int step = 0; step < 3; ++step) rank.barrier("step " + std::to_string(step));
  } catch (const std::exception&) {
    rank.receive(0, "shall we go on?");  // culprit: left_early
  }
  if (rank.rank() == 0) rank.send(2, "shall we go on?", "yes");
}

std::atomic<bool> never{false};

// Two threads, each of which puts its lock back when the other one is taken.
std::mutex fork_of_one;
std::mutex fork_of_two;
void dine(std::mutex& own, std::mutex& other) {
  for (;;) {
    const std::lock_guard lock(own);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));  // culprit: dine
    if (never) return;
    if (other.try_lock()) other.unlock();  // culprit: dine
  }
}

}  // namespace

DISTRUN_TEST(Barriers, without_a_rank_that_sleeps) {
  if (rank.rank() == 1) sleep(zoo::kPatienceS);  // culprit: barrier_sleeper
  rank.barrier("meet");
}

DISTRUN_TEST(Barriers, of_another_name) {
  if (rank.rank() == 1) rank.barrier("over there");  // culprit: another_name
  rank.barrier("over here");
}

DISTRUN_TEST(Barriers, left_early_after_an_error) { train(rank); }

// Rank 1 has failed a check, skipped the steps, and waits in a later barrier than the others.
DISTRUN_TEST(Barriers, long_after_the_failing_step) {
  DISTRUN_EXPECT(rank.rank() != 1);
  for (int step = 0; rank.rank() != 1 && step < 50; ++step) std::this_thread::sleep_for(std::chrono::milliseconds(2));
  if (rank.rank() != 1) rank.barrier("checkpoint");
  rank.barrier("end of training");  // culprit: long_after
}

DISTRUN_TEST(Barriers, of_two_halves) {
  rank.barrier(rank.rank() < 2 ? "low" : "high");  // culprit: two_halves
}

DISTRUN_TEST(Messages, in_a_ring) {
  const int next = (rank.rank() + 1) % rank.world_size();
  rank.receive(next, "go");  // culprit: ring
}

DISTRUN_TEST(Messages, nobody_sends) {
  if (rank.rank() == 1) rank.receive(0, "never");  // culprit: nobody_sends
  rank.barrier("meet");
}

DISTRUN_TEST(Messages, with_another_tag) {
  if (rank.rank() == 0) rank.send(1, "gradient", "1");  // culprit: another_tag
  if (rank.rank() == 1) rank.receive(0, "gradients");   // culprit: another_tag
  rank.barrier("meet");
}

DISTRUN_TEST(Messages, whose_sender_sleeps) {
  if (rank.rank() == 1) sleep(zoo::kPatienceS);  // culprit: sender_sleeps
  rank.receive(1, "batch");
}

// Rank 3 could still send; so this is no deadlock.
DISTRUN_TEST(Messages, from_any_of_which_one_sleeps) {
  if (rank.rank() == 3) sleep(zoo::kPatienceS);  // culprit: one_of_any_sleeps
  if (rank.rank() == 0) rank.receive_from_any("result");
  rank.receive(0, "task");
}

DISTRUN_TEST(Messages, from_any_of_those_that_wait) {
  if (rank.rank() == 0) rank.receive_from_any("result");  // culprit: any_of_waiting
  rank.receive(0, "task");
}

// Rank 0 asks rank 1, which asks back before it answers.
DISTRUN_TEST(Messages, answered_by_a_question) {
  const int other = 1 - rank.rank();
  if (rank.rank() == 0) rank.send(1, "question", "?");
  if (rank.rank() == 1) rank.receive(0, "question");
  rank.receive(other, "answer");  // culprit: question
}

DISTRUN_TEST(Messages, without_end) {
  const int other = 1 - rank.rank();
  if (rank.rank() == 0) rank.send(other, "after you", "");
  for (;;) {
    rank.receive(other, "after you");                           // culprit: after_you
    std::this_thread::sleep_for(std::chrono::milliseconds(1));  // culprit: after_you
    if (never) return;
    rank.send(other, "after you", "");  // culprit: after_you
  }
}

DISTRUN_TEST(States, stopped) {
  if (rank.rank() == 1) raise(SIGSTOP);  // culprit: stopped_rank
  rank.barrier("meet");
}

DISTRUN_TEST(States, spins_on_a_flag) {
  zoo::others_meet(rank, [] {
    while (!never) {  // culprit: flag
    }
  });
}

DISTRUN_TEST(States, threads_that_give_way) {
  zoo::others_meet(rank, [] {
    std::thread other([] { dine(fork_of_two, fork_of_one); });
    dine(fork_of_one, fork_of_two);
    other.join();
  });
}
