#pragma once
// A RAS like NCCL's, on a separate port, with answers set by the test.
#include <sys/socket.h>
#include <unistd.h>

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include <netinet/in.h>

#include <distrun/common/base/fd.hpp>
#include <distrun/common/base/thread.hpp>
#include <distrun/common/store_server/tcp_address.hpp>

namespace distrun::testing {

// Its answers by request line; other lines get none. It closes the connection after its answer to "STATUS".
using RasAnswers = std::map<std::string, std::string>;

inline RasAnswers ras_answers(const std::string& report) {
  return {{"CLIENT PROTOCOL 2", "SERVER PROTOCOL 2\n"},
          {"TIMEOUT 0.500", "OK\n"},
          {"TIMEOUT 15.000", "OK\n"},
          {"SET FORMAT json", "OK\n"},
          {"STATUS", report}};
}

// Serves one connection after the other; the client closes it in the end.
class FakeRas {
 public:
  // `endless`: repeats its answer to that line as long as the client listens.
  explicit FakeRas(RasAnswers answers, std::string endless = "")
      : answers_(std::move(answers)),
        endless_(std::move(endless)),
        listener_(listen_anywhere()),
        thread_("fake-ras", [this] { serve(); }) {}
  ~FakeRas() { ::shutdown(listener_.get(), SHUT_RDWR); }  // stops accepting
  FakeRas(const FakeRas&) = delete;
  FakeRas& operator=(const FakeRas&) = delete;

  std::string address() const { return "localhost:" + std::to_string(stores::port_of(listener_.get())); }
  // Returns the lines received on all connections.
  std::vector<std::string> asked() const {
    const std::lock_guard lock(mutex_);
    return asked_;
  }

 private:
  static base::Fd listen_anywhere() {
    base::Fd made(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ::bind(made.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
    ::listen(made.get(), 8);
    return made;
  }

  void serve() {
    for (;;) {
      const base::Fd client(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
      if (!client) return;
      while (answer(client.get())) {
      }
    }
  }

  // Returns false at the end of the connection.
  bool answer(int client) {
    std::string line;
    for (char each = 0; each != '\n'; line.push_back(each)) {
      if (::recv(client, &each, 1, 0) != 1) return false;
    }
    line.pop_back();
    {
      const std::lock_guard lock(mutex_);
      asked_.push_back(line);
    }
    const auto found = answers_.find(line);
    if (found == answers_.end()) return true;  // it goes on without an answer
    do {
      if (!send_all(client, found->second)) return false;
    } while (line == endless_);
    return line != "STATUS";
  }

  static bool send_all(int client, const std::string& text) {
    for (std::size_t sent = 0; sent < text.size();) {
      const ssize_t more = ::send(client, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
      if (more <= 0) return false;
      sent += static_cast<std::size_t>(more);
    }
    return true;
  }

  const RasAnswers answers_;
  const std::string endless_;
  const base::Fd listener_;
  mutable std::mutex mutex_;
  std::vector<std::string> asked_;  // guarded by mutex_
  base::Thread thread_;             // last member: ends first
};

// ---- reports in NCCL's format

inline std::string ras_rank(int place, int all_reduces, int error = 0, int start = 0) {
  return R"({"rank": )" + std::to_string(place) + R"(, "host": "10.0.0.1", "pid": )" + std::to_string(::getpid()) +
         R"(, "cuda_dev": 0, "nvml_dev": 0, "status": {"init_state": )" + std::to_string(start) +
         R"(, "async_error": )" + std::to_string(error) +
         R"(, "finalize_called": false, "destroy_flag": false, "abort_flag": false}, "collective_counts": {)" +
         R"("Broadcast": 0, "AllReduce": )" + std::to_string(all_reduces) + R"(, "Send": )" + std::to_string(place) +
         "}}";
}

inline std::string ras_missing(int place, bool is_silent, bool is_dead) {
  const auto word = [](bool is) { return std::string(is ? "true" : "false"); };
  return R"({"rank": )" + std::to_string(place) +
         R"(, "host": "10.0.0.2", "pid": 4711, "cuda_dev": 1, "nvml_dev": 1, "status": {"unresponsive": )" +
         word(is_silent) + R"(, "considered_dead": )" + word(is_dead) + "}}";
}

inline std::string ras_list(const std::vector<std::string>& of) {
  std::string text;
  for (const std::string& each : of) text += (text.empty() ? "" : ",\n") + each;
  return "[" + text + "]";
}

inline std::string ras_communicator(int size, const std::vector<std::string>& ranks,
                                    const std::vector<std::string>& missing = {}) {
  return R"({"hash": "0x1f", "secondary_hash": "0x2:0x3", "size": )" + std::to_string(size) + R"(, "ranks_count": )" +
         std::to_string(ranks.size()) + R"(, "missing_ranks_count": )" + std::to_string(missing.size()) +
         R"(, "ranks": )" + ras_list(ranks) + R"(, "missing_ranks": )" + ras_list(missing) + "}";
}

inline std::string ras_report(const std::vector<std::string>& communicators) {
  return R"({"nccl_version": "2.28.9", "cuda_runtime_version": 13000, "cuda_driver_version": 13000, )"
         R"("timestamp": "2026-01-31 12:00:00", "communicators_count": )" +
         std::to_string(communicators.size()) + R"(, "communicators": )" + ras_list(communicators) +
         R"(, "ras": {"collection_time_sec": 0.001, "timeouts_count": 0}})" + "\n";
}

}  // namespace distrun::testing
