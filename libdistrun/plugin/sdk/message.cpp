#include <distrun/plugin/sdk/message.hpp>

#include <sstream>
#include <vector>

namespace distrun::detail {
namespace {

const InfoScope*& innermost() noexcept {
  thread_local const InfoScope* scope = nullptr;
  return scope;
}

template <class T>
void add_number(std::ostream& out, T value) {
  const bool as_usual = out.precision() == base::kUsualDigits && (out.flags() & std::ios_base::floatfield) == 0;
  as_usual ? out << base::shortest(value) : out << value;
}

}  // namespace

Message::Message() : out_(std::make_unique<std::ostringstream>()) {}
Message::~Message() = default;

void Message::add(std::string_view text) { *out_ << text; }
void Message::add(float value) { add_number(*out_, value); }
void Message::add(double value) { add_number(*out_, value); }
void Message::add(long double value) { add_number(*out_, value); }

std::string Message::text() const { return static_cast<const std::ostringstream&>(*out_).str(); }

InfoScope::InfoScope(const Message& message) : text_(message.text()), outer_(innermost()) { innermost() = this; }

InfoScope::~InfoScope() {
  if (innermost() == this) {
    innermost() = outer_;
    return;
  }
  // A coroutine's scope may end after one that began later.
  for (const InfoScope* scope = innermost(); scope != nullptr; scope = scope->outer_) {
    if (scope->outer_ == this) const_cast<InfoScope*>(scope)->outer_ = outer_;
  }
}

std::string current_infos() {
  std::vector<const InfoScope*> scopes;
  for (const InfoScope* scope = innermost(); scope != nullptr; scope = scope->outer_) scopes.push_back(scope);
  std::string text;
  for (auto scope = scopes.rbegin(); scope != scopes.rend(); ++scope) text += indented("info: " + (*scope)->text_);
  return text;
}

std::string indented(std::string_view text) {
  std::string lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    lines += "\n  " + std::string(text.substr(0, end));
    text = end == std::string_view::npos ? "" : text.substr(end + 1);
  }
  return lines;
}

}  // namespace distrun::detail
