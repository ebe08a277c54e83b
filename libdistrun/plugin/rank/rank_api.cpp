#include <distrun/plugin/rank/rank_api.hpp>

#include <poll.h>
#include <sys/prctl.h>

#include <fstream>
#include <utility>

#include <distrun/common/base/message_limit.hpp>
#include <distrun/plugin/rank/crash_handler.hpp>
#include <distrun/plugin/rank/plugin.hpp>
#include <distrun/plugin/rank/stray_child.hpp>
#include <distrun/plugin/rank/thread_owner.hpp>
#include <distrun/plugin/rank/thrown_stack.hpp>

namespace distrun::rank {
namespace {

// The call site of the calling thread's next barrier or receive in the test.
thread_local base::Location next_site;

bool is_traced() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("TracerPid:")) return line.find_first_of("123456789") != std::string::npos;
  }
  return false;
}

base::Location take_site() noexcept { return std::exchange(next_site, base::Location{}); }

}  // namespace

std::int32_t RankApi::answer(const Waited& waited, distrun_sink why, void* context, std::int32_t* because_of) {
  if (waited.code == DISTRUN_PEER_FAILED) noticed_ = waited.because_of;
  if (because_of != nullptr) *because_of = waited.because_of;
  if (waited.code != DISTRUN_OK && why != nullptr) why(context, waited.why.data(), waited.why.size());
  return waited.code;
}

RankApi::RankApi(const wire::RunOrder& order, ControlLine& line, Inbox& inbox, Seat& seat)
    : order_(order), line_(line), inbox_(inbox), seat_(seat), worker_name_("worker" + std::to_string(order.rank)) {
  api_.size = sizeof api_;
  api_.abi = DISTRUN_ABI;
  api_.self = this;
  api_.rank = order.rank;
  api_.world_size = order.world_size;
  api_.attempt = order.attempt;
  api_.gpus = order.gpus;
  api_.seed = order.seed;
  api_.run_id = view(order.run_id);
  api_.test_id = view(order.test_id);
  api_.worker_name = view(worker_name_);
  api_.work_dir = view(order.work_dir);
  api_.temp_dir = view(order.temp_dir);
  api_.backend = view(order.backend);
  api_.agent = view(order.agent);
  api_.gpu_driver = view(order.gpu_driver);
  api_.init_method = view(order.init_method);
  api_.phase = phase;
  api_.error = error;
  api_.skip = skip;
  api_.note = note;
  api_.checks = checks;
  api_.barrier = barrier;
  api_.send = send;
  api_.receive = receive;
  api_.site = site;
  api_.shares_process = order.threads ? 1 : 0;
  fill_in_suite();
}

void RankApi::fill_in_suite() {
  for (const wire::KeyValue& setting : order_.suite_settings) {
    settings_.push_back({view(setting.key), view(setting.value)});
  }
  api_.suite_dir = view(order_.suite_dir);
  api_.settings = settings_.data();
  api_.setting_count = settings_.size();
  api_.set = set;
  fill_in_seat(api_, seat_);
  api_.explain_faults = explain_faults;
  api_.on_peer_failed = on_peer_failed;
  api_.on_peer_died = on_peer_died;
  api_.runs_on = runs_on;
  api_.measure = measure;
  api_.bind = bind;
  api_.unbind = unbind;
  if (order_.host == wire::HostWork::None) return;
  api_.rank = -1;
  api_.world_size = order_.run_world_size;
  api_.temp_dir = api_.suite_dir;
}

void RankApi::enter_phase(wire::Phase phase) {
  seat_.writer.enter_phase(phase);
  tell(wire::ControlFrame::Phase, wire::PhaseChange{phase});
}

void RankApi::wait_for_debugger() {
  constexpr int kPatience = 60'000;  // ms
  // On another host the debugger is no child of the process that has started this one.
  ::prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
  board::WaitInfo info;
  info.name = "a debugger";
  enter_phase(wire::Phase::Rendezvous);  // notifies the coordinator that a debugger may attach
  const board::Wait shown(seat_.writer, info);
  for (int waited = 0; waited < kPatience && !is_traced() && !line_.is_let_go(); ++waited) ::poll(nullptr, 0, 1);
  enter_phase(wire::Phase::SetUp);
}

void RankApi::report(const std::string& type, const std::string& text) {
  wire::ErrorReport report;
  report.type = type;
  report.text = text;
  report.ends_body = true;
  tell(wire::ControlFrame::Error, report);
}

void RankApi::end_if_stray() const {
  if (!line_.is_ours()) end_stray_child(seat_.writer, order_.rank);
}

void RankApi::phase(void* self, std::int32_t phase) {
  if (phase < DISTRUN_PHASE_SET_UP || phase > DISTRUN_PHASE_TEAR_DOWN) return;
  of(self).end_if_stray();
  of(self).enter_phase(static_cast<wire::Phase>(phase));
}

void RankApi::error(void* self, const distrun_error* error) {
  wire::ErrorReport report;
  report.type = text_of(error->type);
  report.text = text_of(error->text);
  report.file = text_of(error->file);
  report.line = error->line;
  report.ends_body = error->ends_body != 0;
  report.because_of = error->because_of;
  if (!of(self).line_.is_ours()) return tell_error_of_child(of(self).seat_.writer, of(self).order_.rank, report);
  // An error after the body has noticed a peer's failure counts as its consequence.
  if (report.because_of < 0) report.because_of = of(self).noticed_;
  report.thrown_at = thrown_stack(*error);
  of(self).tell(wire::ControlFrame::Error, report);
}

void RankApi::skip(void* self, std::int32_t code, distrun_string reason) {
  of(self).tell(wire::ControlFrame::Skip, wire::SkipReport{code, text_of(reason)});
}

void RankApi::note(void* self, distrun_string key, distrun_string value) {
  of(self).tell(wire::ControlFrame::Note, wire::Note{text_of(key), text_of(value)});
}

void RankApi::measure(void* self, distrun_string name, double value, distrun_string unit) {
  of(self).tell(wire::ControlFrame::Measure, wire::Measure{text_of(name), value, text_of(unit)});
}

void RankApi::runs_on(void* self, distrun_string what) {
  constexpr std::size_t kMost = 100;
  const std::lock_guard lock(of(self).ending_);
  if (of(self).running_on_.size() < kMost) of(self).running_on_.push_back(text_of(what));
}

std::vector<std::string> RankApi::running_on() {
  const std::lock_guard lock(ending_);
  return running_on_;
}

void RankApi::checks(void* self, std::uint64_t count) { of(self).checks_ += count; }

std::int32_t RankApi::set(void* self, distrun_string key, distrun_string value) {
  RankApi& api = of(self);
  if (api.order_.host != wire::HostWork::SetUp) return DISTRUN_INVALID;
  const std::lock_guard lock(api.setting_);
  auto wanted = api.set_;
  wanted[text_of(key)] = text_of(value);
  std::size_t bytes = 0;
  for (const auto& [each, its_value] : wanted) bytes += each.size() + its_value.size();
  if (wanted.size() > wire::kSuiteSettingsMax || bytes > wire::kSuiteSettingsBytesMax) return DISTRUN_INVALID;
  api.set_ = std::move(wanted);
  return DISTRUN_OK;
}

std::vector<wire::KeyValue> RankApi::suite_settings() {
  const std::lock_guard lock(setting_);
  std::vector<wire::KeyValue> settings;
  for (const auto& [key, value] : set_) settings.push_back({key, value});
  return settings;
}

void RankApi::site(void*, const char* file, std::uint32_t line) { next_site = {file, line}; }

std::int32_t RankApi::bind(void* self) { return bind_thread(of(self).order_.rank); }

void RankApi::unbind(std::int32_t before) { bind_thread(before); }

void RankApi::explain_faults(void*, std::size_t (*explain)(const void*, char*, std::size_t)) {
  set_fault_explainer(explain);
}

void RankApi::on_peer_failed(void* self, void (*failed)(void*, std::int32_t, distrun_string), void* context) {
  if (failed == nullptr) return of(self).inbox_.on_peer_failed({});
  of(self).inbox_.on_peer_failed(
      [failed, context](std::int32_t because_of, const std::string& why) { failed(context, because_of, view(why)); });
}

void RankApi::on_peer_died(void* self, void (*died)(void*, std::int32_t), void* context) {
  if (died == nullptr) return of(self).inbox_.on_peer_died({});
  of(self).inbox_.on_peer_died([died, context](std::int32_t rank) { died(context, rank); });
}

std::int32_t RankApi::barrier(void* self, distrun_string name, std::int64_t timeout_ms, distrun_sink why, void* context,
                              std::int32_t* because_of) {
  const std::string barrier = text_of(name);
  RankApi& api = of(self);
  if (!api.line_.is_ours()) return refuse_child(api.order_.rank, why, context);
  const Coming coming = api.come_to(barrier);
  api.seat_.writer.note(board::WaitKind::Barrier, barrier, -1, coming.round);
  api.tell(wire::ControlFrame::BarrierEnter, wire::BarrierEnter{barrier});
  Waited waited = api.inbox_.wait_for_release(barrier, timeout_ms, take_site());
  if (waited.code == DISTRUN_TIMEOUT) {
    const bool several_hosts = std::getenv("DISTRUN_HOSTS") != nullptr;
    waited.why +=
        absent_text(absent_from(api.seat_.board, api.order_.rank, api.order_.world_size, coming, several_hosts));
  }
  return api.answer(waited, why, context, because_of);
}

Coming RankApi::come_to(const std::string& barrier) {
  constexpr auto kCoarse = std::chrono::milliseconds(5);  // the coarse clock of operations is up to a tick behind
  const std::lock_guard lock(coming_);
  return {barrier, ++rounds_[barrier], began_ - kCoarse};
}

std::int32_t RankApi::send(void* self, std::int32_t to, distrun_string tag, const void* data, std::size_t size) {
  RankApi& api = of(self);
  const bool is_sound = to >= 0 && to < api.order_.world_size && size <= base::kMessageMax;
  if (!is_sound || !api.line_.is_ours()) return DISTRUN_INVALID;
  wire::RankMessage message;
  message.from = api.order_.rank;
  message.to = to;
  message.tag = text_of(tag);
  message.data.assign(static_cast<const char*>(data), size);
  api.seat_.writer.note(board::WaitKind::Send, message.tag, to);
  api.tell(wire::ControlFrame::Message, message);
  return DISTRUN_OK;
}

std::int32_t RankApi::receive(void* self, std::int32_t* from, distrun_string tag, std::int64_t timeout_ms,
                              distrun_sink message, distrun_sink why, void* context, std::int32_t* because_of) {
  RankApi& api = of(self);
  if (!api.line_.is_ours()) return refuse_child(api.order_.rank, why, context);
  if (*from < -1 || *from >= api.order_.world_size) return DISTRUN_INVALID;
  const std::string wanted = text_of(tag);
  Inbox& inbox = api.inbox_;
  const bool waits = !inbox.has_message(*from, wanted);
  const wire::ReceiveWait wait{*from, wanted};
  if (waits) api.tell(wire::ControlFrame::ReceiveWait, wait);
  const Waited waited = inbox.wait_for_message(*from, wanted, timeout_ms, take_site());
  if (waits) api.tell(wire::ControlFrame::ReceiveEnd, wait);
  if (waited.code == DISTRUN_OK) {
    api.seat_.writer.note(board::WaitKind::Receive, wanted, waited.message.from);
    *from = waited.message.from;
    message(context, waited.message.data.data(), waited.message.data.size());
  }
  return api.answer(waited, why, context, because_of);
}

}  // namespace distrun::rank
