#pragma once
// The loading program's side of the C ABI, played by a test: it lists and runs the tests declared in this binary, and
// records all calls of the SDK.
#include <deque>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <distrun/plugin/sdk/plugin.h>

namespace distrun::sdk_test {

inline std::string text_of(distrun_string text) {
  return text.size == 0 ? std::string() : std::string(text.data, text.size);
}

inline distrun_string lend(const std::string& text) { return {text.data(), text.size()}; }

inline distrun_plugin load_plugin() {
  const distrun_loader host{sizeof(distrun_loader), DISTRUN_ABI};
  distrun_plugin plugin{};
  plugin.size = sizeof plugin;
  plugin.abi = DISTRUN_ABI;
  distrun_plugin_entry(&host, &plugin);
  return plugin;
}

// A rank's line. The answers to its waits are set beforehand; otherwise a wait succeeds at once.
class FakeLine {
 public:
  struct Error {
    std::string type, text, file;
    std::uint32_t line;
    bool ends_body;
    int because_of;
    std::size_t pc_count;
  };
  struct Answer {
    std::int32_t code = DISTRUN_OK;
    std::string text{};
    int rank = -1;  // the sender, or the rank that caused it
  };

  FakeLine() {
    rank.size = sizeof rank;
    rank.abi = DISTRUN_ABI;
    rank.self = this;
    rank.rank = 1;
    rank.world_size = 4;
    rank.attempt = 1;
    rank.seed = 42;
    rank.run_id = lend(run_id_);
    rank.worker_name = lend(worker_name_);
    rank.phase = [](void* self, std::int32_t phase) { of(self).say("phase " + std::to_string(phase)); };
    rank.error = [](void* self, const distrun_error* error) { of(self).keep(*error); };
    rank.skip = [](void* self, std::int32_t code, distrun_string reason) {
      of(self).say("skip " + std::to_string(code) + " " + text_of(reason));
    };
    rank.note = [](void* self, distrun_string key, distrun_string value) {
      of(self).say("note " + text_of(key) + "=" + text_of(value));
    };
    rank.checks = [](void* self, std::uint64_t count) { of(self).checks += count; };
    rank.barrier = barrier;
    rank.send = send;
    rank.receive = receive;
  }
  FakeLine(const FakeLine&) = delete;
  FakeLine& operator=(const FakeLine&) = delete;

  // Runs the test of that id on this rank, through the plugin's entry.
  std::int32_t run(const std::string& test_id) {
    const distrun_plugin plugin = load_plugin();
    rank.test_id = lend(test_id);
    return plugin.run(plugin.self, lend(test_id), &rank);
  }

  distrun_rank rank{};
  std::vector<std::string> said;  // "phase 4", "skip 86 reason", "error", "barrier meet", "send 2 tag data"
  std::vector<Error> errors;
  std::uint64_t checks = 0;
  std::deque<Answer> answers;

 private:
  static constexpr std::size_t kMessageMax = std::size_t{16} << 20;  // as for a real rank

  static FakeLine& of(void* self) { return *static_cast<FakeLine*>(self); }

  void say(std::string what) {
    const std::lock_guard lock(mutex_);
    said.push_back(std::move(what));
  }

  void keep(const distrun_error& error) {
    const std::lock_guard lock(mutex_);
    said.emplace_back("error");
    errors.push_back({text_of(error.type), text_of(error.text), text_of(error.file), error.line, error.ends_body != 0,
                      error.because_of, error.pc_count});
  }

  Answer next_answer() {
    if (answers.empty()) return {};
    Answer answer = std::move(answers.front());
    answers.pop_front();
    return answer;
  }

  static std::int32_t refuse(const Answer& answer, distrun_sink why, void* context, std::int32_t* because_of) {
    *because_of = answer.rank;
    why(context, answer.text.data(), answer.text.size());
    return answer.code;
  }

  static std::int32_t barrier(void* self, distrun_string name, std::int64_t timeout_ms, distrun_sink why, void* context,
                              std::int32_t* because_of) {
    of(self).say("barrier " + text_of(name) + " " + std::to_string(timeout_ms));
    const Answer answer = of(self).next_answer();
    return answer.code == DISTRUN_OK ? DISTRUN_OK : refuse(answer, why, context, because_of);
  }

  static std::int32_t send(void* self, std::int32_t to, distrun_string tag, const void* data, std::size_t size) {
    if (to < 0 || to >= of(self).rank.world_size || size > kMessageMax) return DISTRUN_INVALID;
    of(self).say("send " + std::to_string(to) + " " + text_of(tag) + " " +
                 std::string(static_cast<const char*>(data), size));
    return DISTRUN_OK;
  }

  static std::int32_t receive(void* self, std::int32_t* from, distrun_string tag, std::int64_t timeout_ms,
                              distrun_sink message, distrun_sink why, void* context, std::int32_t* because_of) {
    of(self).say("receive " + std::to_string(*from) + " " + text_of(tag) + " " + std::to_string(timeout_ms));
    const Answer answer = of(self).next_answer();
    if (answer.code != DISTRUN_OK) return refuse(answer, why, context, because_of);
    if (answer.rank >= 0) *from = answer.rank;
    message(context, answer.text.data(), answer.text.size());
    return DISTRUN_OK;
  }

  std::mutex mutex_;
  std::string run_id_ = "r42";
  std::string worker_name_ = "worker1";
};

// Receives the tests from list().
struct FakeList {
  struct Test {
    std::string id, file, isolation, skip_reason;
    std::uint32_t line;
    int world_rule, world_size, skip_code;
    std::vector<int> world_sizes;
    std::int64_t timeout_ms;
    bool env_rendezvous, has_fixture, needs_mpi;
    std::vector<distrun_may_die> may_die;
    std::string description;
    std::vector<std::string> tags, locks;
  };

  FakeList() {
    list.size = sizeof list;
    list.abi = DISTRUN_ABI;
    list.self = this;
    list.world_size = 4;
    list.backend = lend(backend);
    list.agent = lend(agent);
    list.add = [](void* self, const distrun_test* test) { static_cast<FakeList*>(self)->tests.push_back(copy(*test)); };
    list.fail = [](void* self, distrun_string text) { static_cast<FakeList*>(self)->failure += text_of(text); };
  }
  FakeList(const FakeList&) = delete;
  FakeList& operator=(const FakeList&) = delete;

  static Test copy(const distrun_test& test) {
    std::string id = text_of(test.suite) + "." + text_of(test.name);
    for (std::size_t i = 0; i < test.parameter_count; ++i) {
      id += (i == 0 ? "/" : ",") + text_of(test.parameters[i].key) + "=" + text_of(test.parameters[i].value);
    }
    return {id,
            text_of(test.file),
            text_of(test.isolation),
            text_of(test.skip_reason),
            test.line,
            test.world_rule,
            test.world_size,
            test.skip_code,
            {test.world_sizes, test.world_sizes + test.world_size_count},
            test.timeout_ms,
            test.env_rendezvous != 0,
            test.has_fixture != 0,
            test.needs_mpi != 0,
            {test.may_die, test.may_die + test.may_die_count},
            text_of(test.description),
            texts_of(test.tags, test.tag_count),
            texts_of(test.locks, test.lock_count)};
  }
  static std::vector<std::string> texts_of(const distrun_string* texts, std::size_t count) {
    std::vector<std::string> copies;
    for (std::size_t i = 0; i < count; ++i) copies.push_back(text_of(texts[i]));
    return copies;
  }

  std::string backend = "shm";
  std::string agent = "pipe";
  distrun_list list{};
  std::vector<Test> tests;
  std::string failure;
};

}  // namespace distrun::sdk_test
