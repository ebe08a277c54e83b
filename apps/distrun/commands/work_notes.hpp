#pragma once
// Tells the guard which tests are running, for its message if the coordinator dies.
#include <set>
#include <string>

#include <distrun/runner/proc/work_note.hpp>
#include <distrun/runner/record/silent_sink.hpp>

namespace distrun::cli {

class WorkNotes final : public runner::SilentSink {
 public:
  explicit WorkNotes(proc::WorkNote& note) : note_(note) {}

  void on_test_start(const runner::TestStart& start) override {
    running_.insert(start.id);
    write();
  }
  void on_test_end(const runner::TestRecord& test) override {
    running_.erase(test.info.id());
    write();
  }

 private:
  void write() {
    constexpr std::size_t kNamedMax = 3;
    std::string text;
    std::size_t named = 0;
    for (const std::string& id : running_) {
      if (++named > kNamedMax) break;
      text += (text.empty() ? "" : ", ") + id;
    }
    if (running_.size() > kNamedMax) text += " and " + std::to_string(running_.size() - kNamedMax) + " more";
    note_.write(text);
  }

  proc::WorkNote& note_;
  std::set<std::string> running_;
};

}  // namespace distrun::cli
