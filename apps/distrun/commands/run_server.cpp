#include "run_server.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/peer.hpp>
#include <distrun/runner/record/snapshot.hpp>

#include "examination.hpp"
#include "run_socket.hpp"

namespace distrun::cli {
namespace {

constexpr std::size_t kClientsMax = 16;

std::int64_t ms_of(base::Nanoseconds duration) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(duration).count();
}

wire::SnapshotText told(const std::string& test, const runner::Snapshot& snapshot,
                        const std::vector<evidence::Line>& lines) {
  wire::SnapshotText one;
  one.test = test;
  one.at_ms = ms_of(snapshot.at);
  one.took_ms = ms_of(snapshot.took);
  for (const evidence::Line& line : lines) {
    wire::ToldLine& to = one.lines.emplace_back();
    for (const auto& segment : line.segments) {
      to.segments.push_back({static_cast<std::uint8_t>(segment.tone), segment.text});
    }
  }
  return one;
}

wire::SnapshotText told(const std::string& test, const runner::Snapshot& snapshot) {
  return told(test, snapshot, snapshot.text);
}

wire::ToldExamination told(const std::string& run_id, const std::vector<ExaminedTest>& tests, bool with_json) {
  wire::ToldExamination all;
  all.finding = static_cast<std::uint8_t>(finding_of(tests));
  for (const ExaminedTest& each : tests) all.snapshots.push_back(told(each.test, each.snapshot, lines_of(each)));
  if (with_json) all.json = examination_json(run_id, tests);
  return all;
}

}  // namespace

RunServer::RunServer(io::Loop& loop, runner::Run& run, const std::string& run_id, std::string reach,
                     std::function<void()> on_cancel)
    : loop_(loop), run_(run), run_id_(run_id), reach_(std::move(reach)), on_cancel_(std::move(on_cancel)) {
  listener_ = std::make_unique<io::FdWatch>(loop, listen_for(run_id), [this] { on_connection(); });
}

void RunServer::on_connection() {
  base::Fd socket(::accept4(listener_->fd(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!socket || clients_.size() >= kClientsMax || !base::is_trusted_peer(socket.get())) return;
  const int client = next_client_++;
  clients_[client] = std::make_unique<io::FrameSocket>(
      loop_, std::move(socket), wire::kProtocol<wire::InspectFrame>,
      io::FrameSocket::Handlers{[this, client](const wire::Frame& frame) { on_frame(client, frame); },
                                [this, client](const std::string&) { drop(client); }});
}

void RunServer::on_frame(int client, const wire::Frame& frame) {
  try {
    if (!frame.is(wire::InspectFrame::Order)) return drop(client);
    const auto order = wire::decode<wire::InspectOrder>(wire::view_of(frame.payload));
    if (order.kind == wire::InspectKind::Stacks) return answer_stacks(client, order.rank);
    const bool with_json = order.kind == wire::InspectKind::ExamineAsJson;
    if (order.kind == wire::InspectKind::Examine || with_json) return answer_examination(client, with_json);
    if (order.kind == wire::InspectKind::Cancel) loop_.post(on_cancel_);  // the answer first
    answer_status(client);
  } catch (const Error&) {
    drop(client);
  }
}

void RunServer::answer_status(int client) {
  wire::RunStatus status = run_.status();
  status.reach = reach_;
  send(client, wire::InspectFrame::RunStatus, status);
}

// Sends one answer, once the snapshots of all running tests are complete.
void RunServer::answer_stacks(int client, int rank) {
  struct Answer {
    wire::ToldStacks stacks;
    int to_come = 0;
  };
  const auto answer = std::make_shared<Answer>();
  answer->to_come = run_.take_snapshot_now([this, alive = std::weak_ptr(alive_), client, rank, answer](
                                               const std::string& test, const runner::Snapshot& snapshot) {
    if (alive.expired()) return;
    answer->stacks.snapshots.push_back(told(test, rank < 0 ? snapshot : runner::only(rank, snapshot)));
    if (--answer->to_come == 0) send(client, wire::InspectFrame::ToldStacks, answer->stacks);
  });
  if (answer->to_come == 0) send(client, wire::InspectFrame::ToldStacks, answer->stacks);
}

// A client has one examination.
void RunServer::answer_examination(int client, bool with_json) {
  if (examiners_.contains(client)) return drop(client);
  const auto examiner =
      std::make_shared<RunExaminer>(loop_, run_, [this, client, with_json](const std::vector<ExaminedTest>& tests) {
        send(client, wire::InspectFrame::ToldExamination, told(run_id_, tests, with_json));
      });
  examiners_[client] = examiner;
  examiner->begin();
}

template <class T>
void RunServer::send(int client, wire::InspectFrame kind, const T& message) {
  const auto found = clients_.find(client);
  if (found == clients_.end()) return;
  try {
    found->second->send(wire::pack(kind, 0, message));
  } catch (const Error&) {
    drop(client);  // it does not read
  }
}

// Deferred, since this may be called from inside the socket's handler.
void RunServer::drop(int client) {
  loop_.post([this, alive = std::weak_ptr(alive_), client] {
    if (alive.expired()) return;
    clients_.erase(client);
    examiners_.erase(client);
  });
}

}  // namespace distrun::cli
