#pragma once
// Ranks that are threads, each with a session, for tests of references. The test's thread acts as a rank.
#include <catch2/catch.hpp>

#include <condition_variable>
#include <mutex>

#include <distrun/runtime/rpc/calls/call.hpp>
#include <distrun/runtime/rref/references.hpp>
#include <distrun/runtime/rref/rref.hpp>

#include "../rpc/session_ranks.hpp"
#include "support/process.hpp"
#include "support/sandbox.hpp"

namespace distrun::rref {

using distrun::testing::scaled;

class ReferenceRanks {
 public:
  explicit ReferenceRanks(int world_size) : ranks_(world_size) {
    REQUIRE(ranks_.run([&](int rank) { rpc::init_rpc(ranks_.options(rank)); }) == rpc::no_errors(world_size));
  }
  void as(int rank, const std::function<void()>& body) const { REQUIRE(ranks_.error_as(rank, body) == ""); }
  std::string error_as(int rank, const std::function<void()>& body) const { return ranks_.error_as(rank, body); }
  std::vector<std::string> shut_down(const rpc::ShutdownOptions& options = {.timeout = 10}) const {
    return ranks_.run([&](int) { rpc::shutdown(options); });
  }
  // Returns what a rank still holds or waits for after a moment: "held 1"; empty: nothing.
  std::string left_over(int rank) const {
    std::string text;
    as(rank, [&] {
      distrun::testing::eventually(scaled(std::chrono::milliseconds(5000)), [&] {
        text = held();
        return text.empty();
      });
    });
    return text;
  }
  std::string left_over() const {
    std::string text;
    for (int rank = 0; rank < ranks_.world_size(); ++rank) text += left_over(rank);
    return text;
  }
  // Repeats the question as that rank until it is true.
  bool comes_true(int rank, const std::function<bool()>& question) const {
    bool answer = false;
    as(rank, [&] { answer = distrun::testing::eventually(scaled(std::chrono::milliseconds(5000)), question); });
    return answer;
  }

 private:
  static std::string held() {
    const ledger::Page page = current_references()->page(0);
    std::string text;
    for (const auto& [key, value] : debug_info()) text += value == "0" ? "" : key + " " + value + " ";
    if (page.owned != 0) text += "values " + std::to_string(page.owned) + " ";
    if (page.held != 0) text += "held " + std::to_string(page.held) + " ";
    return text;
  }
  rpc::Ranks ranks_;
};

// Callees wait here, for a limited time, until a test opens it.
class Gate {
 public:
  void open() {
    const std::lock_guard lock(mutex_);
    is_open_ = true;
    changed_.notify_all();
  }
  void wait() {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::seconds(20), [&] { return is_open_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_open_ = false;
};
// The gate of the running test.
inline std::shared_ptr<Gate>& gate() {
  static auto* const gate = new std::shared_ptr<Gate>;
  return *gate;
}
struct UseGate {
  UseGate() { gate() = std::make_shared<Gate>(); }
  ~UseGate() { gate()->open(); }
};

inline bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace distrun::rref
