#include <distrun/common/wire/fault_plan.hpp>

#include <charconv>

#include <distrun/common/base/deadline.hpp>
#include <distrun/common/base/error.hpp>
#include <distrun/common/base/text.hpp>

namespace distrun::wire {
namespace {

constexpr std::size_t kTextMax = 4096, kFaultsMax = 64;
constexpr std::uint64_t kFailsMax = 1'000'000, kBehindMax = 1000, kMessageMax = 1'000'000'000'000, kWorkerMax = 32767;
constexpr double kSecondsMax = 3600;

constexpr const char* kNames[kFaultKinds] = {"call",   "remote",  "fetch",        "reply",        "failure",
                                             "cancel", "control", "fork_request", "child_accept", "user_delete",
                                             "ack",    "cleanup", "forward",      "backward"};

struct Form {
  std::string_view name;
  Fault::Action action;
  const char* form;
  const char* example;
};
constexpr Form kForms[] = {
    {"fail", Fault::Action::Fail, "fail:KINDS:N", "fail:fork_request:3"},
    {"delay", Fault::Action::Delay, "delay:KINDS:SECONDS[:ordered]", "delay:call:1.5"},
    {"drop", Fault::Action::Drop, "drop:KINDS:CHANCE", "drop:retriable:0.1"},
    {"dup", Fault::Action::Duplicate, "dup:KINDS:CHANCE", "dup:retriable:0.1"},
    {"reorder", Fault::Action::Reorder, "reorder:KINDS:CHANCE:BEHIND", "reorder:retriable:0.2:3"},
    {"corrupt", Fault::Action::Corrupt, "corrupt:KINDS:CHANCE", "corrupt:reply:0.01"},
    {"cut", Fault::Action::Cut, "cut:WORKER@N", "cut:1@500"},
};

FaultKinds only(FaultKind kind) noexcept { return FaultKinds().set(static_cast<std::size_t>(kind)); }

std::vector<std::string> split(std::string_view text, char by) {
  std::vector<std::string> parts;
  for (std::size_t at = 0;;) {
    const std::size_t end = text.find(by, at);
    parts.emplace_back(text.substr(at, end == std::string_view::npos ? end : end - at));
    if (end == std::string_view::npos) return parts;
    at = end + 1;
  }
}

std::string quoted(std::string_view text) { return "\"" + base::one_line(text) + "\""; }

std::string all_names() {
  std::string names;
  for (const char* name : kNames) names += std::string(name) + ", ";
  return names + "retriable or any";
}

// Parses one fault of a plan.
class Item {
 public:
  Item(const std::string& option, const std::string& text) : option_(option), text_(text), parts_(split(text, ':')) {}

  Fault read() {
    find_form();
    Fault fault;
    fault.action = form_->action;
    if (fault.action == Fault::Action::Cut) return read_cut(fault);
    expect_parts(fault.action == Fault::Action::Reorder ? 4 : 3, fault.action == Fault::Action::Delay ? 4 : 0);
    fault.kinds = kinds(parts_[1]);
    switch (fault.action) {
      case Fault::Action::Fail: fault.count = number<std::uint64_t>(parts_[2], 0, kFailsMax); break;
      case Fault::Action::Delay: read_delay(fault); break;
      case Fault::Action::Reorder: fault.count = number<std::uint64_t>(parts_[3], 1, kBehindMax); [[fallthrough]];
      default: fault.chance = number<double>(parts_[2], 0, 1);
    }
    return fault;
  }

 private:
  [[noreturn]] void refuse(const std::string& what) const {
    std::string text = option_ + ": " + quoted(text_) + ": " + what;
    if (form_ != nullptr) text += std::string("; expected ") + form_->form + ", as in " + form_->example;
    throw Error(ErrorKind::InvalidArgument, text);
  }

  void find_form() {
    for (const Form& form : kForms) {
      if (form.name == parts_.front()) form_ = &form;
    }
    if (form_ != nullptr) return;
    std::string forms;
    for (const Form& form : kForms) forms += (forms.empty() ? "" : ", ") + std::string(form.form);
    refuse("expected one of " + forms + ", as in drop:retriable:0.1");
  }

  void expect_parts(std::size_t count, std::size_t or_count) const {
    if (parts_.size() == count || parts_.size() == or_count) return;
    refuse(parts_.size() < count ? "parts are missing" : "it has too many parts");
  }

  FaultKinds kinds(const std::string& names) const {
    FaultKinds all;
    for (const std::string& name : split(names, '+')) {
      const auto found = try_fault_kinds(name);
      if (!found) refuse(quoted(name) + " is not a kind of message; expected " + all_names());
      all |= *found;
    }
    return all;
  }

  template <class T>
  T number(const std::string& text, T low, T high) const {
    T value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc() && end == text.data() + text.size() && value >= low && value <= high) return value;
    std::string limit = std::to_string(high);
    if (limit.find('.') != std::string::npos) limit.resize(limit.find('.'));
    refuse(quoted(text) + " is not a number from " + (low > 0 ? "1" : "0") + " to " + limit);
  }

  void read_delay(Fault& fault) const {
    fault.delay = base::nanoseconds_of(number<double>(parts_[2], 0, kSecondsMax));
    if (parts_.size() < 4) return;
    if (parts_[3] != "ordered") refuse(quoted(parts_[3]) + " is not \"ordered\"");
    fault.keeps_order = true;
  }

  Fault read_cut(Fault fault) const {
    expect_parts(2, 0);
    const std::vector<std::string> both = split(parts_[1], '@');
    if (both.size() != 2) refuse("it must name a worker and a message number");
    fault.worker = static_cast<std::int32_t>(number<std::uint64_t>(both[0], 0, kWorkerMax));
    fault.count = number<std::uint64_t>(both[1], 1, kMessageMax);
    return fault;
  }

  const std::string& option_;
  const std::string& text_;
  const std::vector<std::string> parts_;
  const Form* form_ = nullptr;
};

}  // namespace

const char* name_of(FaultKind kind) noexcept { return kNames[static_cast<std::size_t>(kind)]; }

FaultKinds retriable_kinds() noexcept {
  return only(FaultKind::ForkRequest) | only(FaultKind::ChildAccept) | only(FaultKind::UserDelete) |
         only(FaultKind::Ack) | only(FaultKind::Cleanup);
}

std::optional<FaultKinds> try_fault_kinds(std::string_view name) noexcept {
  if (name == "retriable") return retriable_kinds();
  if (name == "any") return FaultKinds().set();
  for (std::size_t kind = 0; kind < kFaultKinds; ++kind) {
    if (name == kNames[kind]) return FaultKinds().set(kind);
  }
  return std::nullopt;
}

std::vector<Fault> parse_faults(const std::string& option, const std::string& text) {
  if (text.size() > kTextMax) {
    throw Error(ErrorKind::InvalidArgument, option + ": a plan has at most " + std::to_string(kTextMax) + " bytes");
  }
  std::vector<Fault> faults;
  if (text.empty()) return faults;
  for (const std::string& each : split(text, ',')) faults.push_back(Item(option, each).read());
  if (faults.size() <= kFaultsMax) return faults;
  throw Error(ErrorKind::InvalidArgument, option + ": a plan has at most " + std::to_string(kFaultsMax) + " faults");
}

FaultPlan parse_fault_plan(const std::string& option, const std::string& text) {
  FaultPlan plan;
  const std::size_t colon = text.find(':');
  const char* const end = text.data() + (colon == std::string::npos ? 0 : colon);
  const auto [read, error] = std::from_chars(text.data(), end, plan.seed);
  if (error != std::errc() || read != end || colon + 1 == text.size()) {
    throw Error(ErrorKind::InvalidArgument,
                option + ": " + quoted(text) + ": expected SEED:PLAN, as in 7:drop:retriable:0.1,delay:call:1.5");
  }
  plan.text = text.substr(colon + 1);
  plan.faults = parse_faults(option, plan.text);
  return plan;
}

}  // namespace distrun::wire
