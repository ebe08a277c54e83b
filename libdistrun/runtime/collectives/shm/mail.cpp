#include <distrun/runtime/collectives/shm/mail.hpp>

#include <algorithm>
#include <cstring>
#include <string>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/collectives/explain.hpp>
#include <distrun/runtime/collectives/shm/exchange_failure.hpp>

namespace distrun::collectives::shm {
namespace {

constexpr std::uint64_t word_of(std::uint64_t turn, Loan state) { return 4 * turn + static_cast<std::uint64_t>(state); }
constexpr Loan state_of(std::uint64_t word) { return static_cast<Loan>(word % 4); }
constexpr std::uint64_t with_state(std::uint64_t word, Loan state) { return word_of(word / 4, state); }

// Of a letter's bytes by another process.
constexpr base::Nanoseconds kLongestCopy = std::chrono::milliseconds(500);

std::string text_of(DType dtype, std::uint64_t bytes) {
  return std::to_string(bytes / tensor::size_of(dtype)) + " elements of " + std::string(tensor::name_of(dtype));
}

}  // namespace

class Mail::Sending final : public Transfer {
 public:
  Sending(std::shared_ptr<Mail> mail, const Letter& letter, ConstBytes bytes)
      : mail_(std::move(mail)), letter_(letter), bytes_(bytes) {}
  ~Sending() override { take_back(); }
  Sending(const Sending&) = delete;
  Sending& operator=(const Sending&) = delete;

  int finish(base::TimePoint deadline) override {
    const base::TimePoint begin = base::system_clock().now();
    const std::function<std::vector<int>()> missing = [this] { return std::vector<int>{letter_.peer}; };
    const std::string name = "to rank " + std::to_string(mail_->group_.ranks[static_cast<std::size_t>(letter_.peer)]);
    board::WaitInfo info;
    info.kind = board::WaitKind::Send;
    info.name = name;
    info.rule = board::PeerRule::All;
    info.id = letter_.tag;
    info.site = letter_.site;
    const Seat& peer = mail_->area_->seat(letter_.peer);
    const core::WaitEnd end = mail_->bells_.wait({info, deadline, missing}, [&] {
      return is_done() || peer.presence.load() != Presence::Here || mail_->is_over();
    });
    if (!take_back()) mail_->end_wait(end, letter_, true, begin);
    return letter_.peer;
  }

 private:
  friend class Mail;

  bool is_done() {
    const std::lock_guard lock(mail_->mutex_);
    mail_->put_all_queued();
    return in_box_ && (loan_ < 0 || loan_state() == Loan::Fetched);
  }
  Loan loan_state() const { return state_of(word().load()); }
  std::atomic<std::uint64_t>& word() const { return mail_->own_.loans[static_cast<std::size_t>(loan_)]; }

  // Nobody touches the bytes any more. True: they have got where they should.
  bool take_back() {
    std::unique_lock lock(mail_->mutex_);
    if (is_back_) return was_done_;
    is_back_ = true;
    if (!in_box_) {
      std::erase(mail_->queued_[static_cast<std::size_t>(letter_.peer)], this);
      return false;
    }
    if (loan_ < 0) return was_done_ = true;
    std::uint64_t expected = offered_;
    if (!word().compare_exchange_strong(expected, with_state(offered_, Loan::Free))) {
      lock.unlock();
      was_done_ = wait_for_copy();
      if (was_done_) word().store(with_state(offered_, Loan::Free));
    }
    return was_done_;
  }
  // Whether it was read to its end. A copy that is under way ends soon, but not that of a process that has died or is
  // stopped: it is told that its copy does not count. A thread of this process reads the bytes where they are, and so
  // is waited for. False: the loan is free.
  bool wait_for_copy() const {
    const int pid = mail_->area_->seat(letter_.peer).pid.load();
    const base::TimePoint until = base::system_clock().now() + kLongestCopy;
    while (loan_state() == Loan::Fetching) {
      ::sched_yield();
      if (pid != ::getpid() && (base::system_clock().now() >= until || !core::is_alive(pid))) break;
    }
    std::uint64_t fetching = with_state(offered_, Loan::Fetching);
    return !word().compare_exchange_strong(fetching, with_state(offered_, Loan::Free));
  }

  const std::shared_ptr<Mail> mail_;
  const Letter letter_;
  const ConstBytes bytes_;
  // Guarded by the mail's lock.
  bool in_box_ = false;
  int loan_ = -1;  // its place; -1: it carries its bytes
  std::uint64_t offered_ = 0;
  std::unique_ptr<core::SharedMemory> shared_;
  bool is_back_ = false;
  bool was_done_ = false;
};

class Mail::Receiving final : public Transfer {
 public:
  Receiving(std::shared_ptr<Mail> mail, const Letter& letter, Bytes bytes)
      : mail_(std::move(mail)), letter_(letter), bytes_(bytes) {}
  ~Receiving() override {
    const std::lock_guard lock(mail_->mutex_);
    mail_->posted_.remove(this);
  }
  Receiving(const Receiving&) = delete;
  Receiving& operator=(const Receiving&) = delete;

  int finish(base::TimePoint deadline) override {
    const base::TimePoint begin = base::system_clock().now();
    const std::function<std::vector<int>()> missing = [this] { return awaited(); };
    const std::string name = letter_.peer < 0 ? "from any" : "from " + ranks_text(mail_->group_, {letter_.peer});
    board::WaitInfo info;
    info.kind = board::WaitKind::Receive;
    info.name = name;
    info.rule = letter_.peer < 0 ? board::PeerRule::Any : board::PeerRule::All;
    info.id = letter_.tag;
    info.site = letter_.site;
    const core::WaitEnd end = mail_->bells_.wait({info, deadline, missing},
                                                 [&] { return is_matched() || is_hopeless() || mail_->is_over(); });
    if (!is_matched()) mail_->end_wait(end, letter_, false, begin);
    read();
    return arrived_->from;
  }

 private:
  friend class Mail;

  bool is_matched() {
    const std::lock_guard lock(mail_->mutex_);
    if (is_claimed_) return true;
    mail_->put_all_queued();
    if (!arrived_) mail_->take_arrived();
    while (arrived_ && !is_claimed_) {
      is_claimed_ = mail_->claim(*arrived_);
      if (!is_claimed_) mail_->match_again(*this);
    }
    return is_claimed_;
  }
  std::vector<int> awaited() const {
    if (letter_.peer >= 0) return {letter_.peer};
    std::vector<int> others;
    for (int rank = 0; rank < mail_->group_.size(); ++rank) {
      if (rank != mail_->group_.rank) others.push_back(rank);
    }
    return others;
  }
  // Who could send it has gone.
  bool is_hopeless() const {
    const std::vector<int> from = awaited();
    return std::all_of(from.begin(), from.end(),
                       [this](int rank) { return mail_->area_->seat(rank).presence.load() != Presence::Here; });
  }
  void check_size() const {
    if (arrived_->size == bytes_.size() && arrived_->dtype == letter_.dtype) return;
    throw Error(ErrorKind::InvalidArgument, "DistBackendError",
                ranks_text(mail_->group_, {arrived_->from}) + " has sent " + text_of(arrived_->dtype, arrived_->size) +
                    " (tag " + std::to_string(letter_.tag) + "), " + ranks_text(mail_->group_, {mail_->group_.rank}) +
                    " takes " + text_of(letter_.dtype, bytes_.size()),
                letter_.site);
  }
  void fetch();
  void read();

  const std::shared_ptr<Mail> mail_;
  const Letter letter_;
  const Bytes bytes_;
  std::optional<Arrived> arrived_;  // guarded by the mail's lock until it is claimed
  bool is_claimed_ = false;
};

void Mail::Receiving::fetch() {
  if (arrived_->size != bytes_.size() || arrived_->dtype != letter_.dtype) return;
  if (arrived_->carriage == Carriage::Fetched) {
    mail_->memory_.read(arrived_->from, arrived_->address, bytes_.data(), bytes_.size());
  } else {
    const core::SharedMemory shared(arrived_->memory, bytes_.size());
    std::memcpy(bytes_.data(), shared.data(), bytes_.size());
  }
}

// A letter that does not fit, or can't be read, is taken all the same: its sender has done its part.
void Mail::Receiving::read() {
  if (arrived_->carriage == Carriage::Inside) {
    check_size();
    if (!bytes_.empty()) std::memcpy(bytes_.data(), arrived_->inside.data(), bytes_.size());
    return;
  }
  const auto give_back = [this] {
    auto& word = mail_->area_->seat(arrived_->from).loans[arrived_->loan_index % kLoans];
    std::uint64_t fetching = with_state(arrived_->loan, Loan::Fetching);
    const bool counts = word.compare_exchange_strong(fetching, with_state(arrived_->loan, Loan::Fetched));
    mail_->bells_.ring(arrived_->from);
    return counts;
  };
  try {
    fetch();
  } catch (Error& error) {
    give_back();
    error.while_doing("a letter of " + ranks_text(mail_->group_, {arrived_->from}));
    throw;
  }
  if (!give_back()) {
    throw Error(ErrorKind::Timeout, "DistBackendError",
                "a receive from " + ranks_text(mail_->group_, {arrived_->from}) + " in group " + mail_->group_.name +
                    " took so long to read the letter that it was taken back",
                letter_.site);
  }
  check_size();
}

Mail::Mail(std::shared_ptr<Area> area, const GroupInfo& group, const Bells& bells)
    : area_(std::move(area)),
      group_(group),
      bells_(bells),
      own_(area_->seat(group.rank)),
      memory_(area_),
      queued_(static_cast<std::size_t>(group.size())) {}

bool Mail::is_over() const { return own_.presence.load() != Presence::Here; }

std::unique_ptr<Transfer> Mail::send(const Letter& letter, ConstBytes bytes) {
  auto sending = std::make_unique<Sending>(shared_from_this(), letter, bytes);
  const std::lock_guard lock(mutex_);
  queued_[static_cast<std::size_t>(letter.peer)].push_back(sending.get());
  put_queued(letter.peer);
  return sending;
}

std::unique_ptr<Transfer> Mail::receive(const Letter& letter, Bytes bytes) {
  auto receiving = std::make_unique<Receiving>(shared_from_this(), letter, bytes);
  const std::lock_guard lock(mutex_);
  post(*receiving, false);
  return receiving;
}

// Its letter was taken back before it was claimed: it is first in turn for another one.
void Mail::match_again(Receiving& receiving) {
  receiving.arrived_.reset();
  post(receiving, true);
}

void Mail::post(Receiving& receiving, bool is_first) {
  const Letter& wants = receiving.letter_;
  const auto found = std::find_if(unwanted_.begin(), unwanted_.end(), [&](const Arrived& each) {
    return each.tag == wants.tag && (wants.peer < 0 || wants.peer == each.from);
  });
  if (found == unwanted_.end()) {
    posted_.insert(is_first ? posted_.begin() : posted_.end(), &receiving);
    return;
  }
  receiving.arrived_ = std::move(*found);
  unwanted_.erase(found);
}

// From now on its sender lets the bytes be. False: it has taken them back.
bool Mail::claim(const Arrived& letter) const {
  if (letter.carriage == Carriage::Inside) return true;
  std::uint64_t offered = letter.loan;
  std::atomic<std::uint64_t>& word = area_->seat(letter.from).loans[letter.loan_index % kLoans];
  return word.compare_exchange_strong(offered, with_state(letter.loan, Loan::Fetching));
}

// By whoever waits: what it waits for may be sent by who waits for one of these.
void Mail::put_all_queued() {
  for (int to = 0; to < group_.size(); ++to) put_queued(to);
}

void Mail::put_queued(int to) {
  std::deque<Sending*>& queue = queued_[static_cast<std::size_t>(to)];
  bool any = false;
  while (!queue.empty() && put(*queue.front())) {
    queue.pop_front();
    any = true;
  }
  if (any) bells_.ring(to);
}

bool Mail::put(Sending& sending) {
  MailBox& box = area_->mail_box(group_.rank, sending.letter_.peer);
  const std::uint64_t number = box.written.load();
  if (number - box.taken.load() >= kLetters) return false;
  ShownLetter& shown = box.letters[number % kLetters];
  shown.tag = sending.letter_.tag;
  shown.size = sending.bytes_.size();
  shown.dtype = sending.letter_.dtype;
  shown.carriage = Carriage::Inside;
  if (sending.bytes_.size() > kLetterRoom) {
    if (!offer(sending, shown)) return false;
  } else if (!sending.bytes_.empty()) {
    std::memcpy(shown.inside.data(), sending.bytes_.data(), sending.bytes_.size());
  }
  sending.in_box_ = true;
  box.written.store(number + 1);
  return true;
}

bool Mail::offer(Sending& sending, ShownLetter& shown) {
  const auto is_free = [](const auto& word) { return state_of(word.load()) == Loan::Free; };
  const auto free = std::find_if(own_.loans.begin(), own_.loans.end(), is_free);
  if (free == own_.loans.end()) return false;
  sending.loan_ = static_cast<int>(free - own_.loans.begin());
  sending.offered_ = word_of(free->load() / 4 + 1, Loan::Offered);
  shown.loan = sending.offered_;
  shown.loan_index = static_cast<std::uint32_t>(sending.loan_);
  if (may_fetch_) {
    shown.carriage = Carriage::Fetched;
    shown.address = reinterpret_cast<std::uint64_t>(sending.bytes_.data());
  } else {
    sending.shared_ = std::make_unique<core::SharedMemory>("a letter", sending.bytes_.size());
    std::memcpy(sending.shared_->data(), sending.bytes_.data(), sending.bytes_.size());
    shown.carriage = Carriage::Shared;
    shown.memory = sending.shared_->address();
  }
  free->store(sending.offered_);
  return true;
}

Mail::Receiving* Mail::wanting(const Arrived& letter) const {
  const auto found = std::find_if(posted_.begin(), posted_.end(), [&](const Receiving* each) {
    return each->letter_.tag == letter.tag && (each->letter_.peer < 0 || each->letter_.peer == letter.from);
  });
  return found != posted_.end() ? *found : nullptr;
}

void Mail::take_arrived() {
  for (int from = 0; from < group_.size(); ++from) take_from(from);
}

void Mail::take_from(int from) {
  MailBox& box = area_->mail_box(from, group_.rank);
  std::uint64_t number = box.taken.load();
  if (number == box.written.load()) return;
  for (; number != box.written.load(); ++number) {
    const ShownLetter& shown = box.letters[number % kLetters];
    Arrived letter{from,       shown.tag,        shown.size,    shown.dtype,  shown.carriage,
                   shown.loan, shown.loan_index, shown.address, shown.memory, {}};
    if (letter.carriage == Carriage::Inside) {
      const std::size_t size = std::min<std::size_t>(letter.size, kLetterRoom);
      letter.inside.assign(shown.inside.begin(), shown.inside.begin() + static_cast<std::ptrdiff_t>(size));
    }
    if (Receiving* wanted = wanting(letter)) {
      posted_.remove(wanted);
      wanted->arrived_ = std::move(letter);
      bells_.ring(group_.rank);  // another thread's, perhaps
    } else {
      unwanted_.push_back(std::move(letter));
    }
  }
  box.taken.store(number);
  bells_.ring(from);
}

void Mail::end_wait(core::WaitEnd end, const Letter& letter, bool sends, base::TimePoint begin) const {
  const std::string peer = letter.peer < 0 ? "any rank" : ranks_text(group_, {letter.peer});
  const std::string what = std::string(sends ? "a send to " : "a receive from ") + peer + " in group " + group_.name +
                           " (tag " + std::to_string(letter.tag) + ")";
  if (end == core::WaitEnd::Timeout) {
    throw Error(ErrorKind::Timeout, "DistBackendError",
                what + " has timed out after " + base::human(base::system_clock().now() - begin) +
                    (letter.peer < 0 ? "" : ": " + what_they_do(group_, {letter.peer})),
                letter.site);
  }
  if (is_over())
    throw Error(ErrorKind::Cancelled, "DistBackendError", what + " was cut off: this rank has left the group",
                letter.site);
  throw_gone(*area_, group_, what, letter.site, letter.peer < 0 ? std::vector<int>() : std::vector<int>{letter.peer});
}

}  // namespace distrun::collectives::shm
