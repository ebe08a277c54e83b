#include <distrun/plugin/sdk/declare.hpp>
#include <distrun/plugin/sdk/detail/current.hpp>
#include <distrun/plugin/sdk/detail/failure.hpp>

namespace distrun {
namespace {

// Returns why the element skipped, if it did. Lets PeerFailed through: after it, no barrier can complete.
std::optional<Skip> run_element(Rank& rank, const Parameters& element,
                                const std::function<void(const Parameters&)>& body) {
  using detail::Scope;
  const Scope scope(rank.tally(), "[" + element.to_string() + "] ", Scope::AfterFailure::GoesOn);
  base::ThrowStack stack(detail::keep_infos);
  auto run = [&] { body(element); };
  try {
    stack.watch(run);
  } catch (const CheckFailed&) {
    rank.tally().mark_failed();
  } catch (const Skip& skip) {
    return skip;
  } catch (const PeerFailed&) {
    throw;
  } catch (...) {
    rank.tally().report(detail::current_failure(stack));
  }
  return std::nullopt;
}

}  // namespace

void run_subtests(Rank& rank, const Product& settings, const std::function<void(const Parameters&)>& body) {
  std::optional<Skip> last_skip;
  bool all_skipped = true;
  for (const Parameters& element : settings.elements()) {
    const std::string name = element.to_string();
    last_skip = run_element(rank, element, body);
    if (last_skip) rank.note("skipped [" + name + "]", last_skip->reason);
    all_skipped = all_skipped && last_skip;
    rank.barrier("subtest " + name);
  }
  if (all_skipped) throw *last_skip;
}

}  // namespace distrun
