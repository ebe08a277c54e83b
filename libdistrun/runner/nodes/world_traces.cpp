#include <distrun/runner/nodes/world_traces.hpp>

#include <utility>

#include <distrun/common/base/error.hpp>
#include <distrun/common/trace/memory.hpp>
#include <distrun/runner/nodes/remote_node.hpp>

namespace distrun::nodes {

void WorldTraces::begin_test(std::uint64_t records, const std::vector<TraceFetch::Source>& sources) {
  records_ = records;
  began_.clear();
  for (const TraceFetch::Source& source : sources) {
    const std::optional<Offset> ahead = source.node->ahead();
    if (ahead) began_[source.node->number()] = {*ahead, loop_.clock().now()};
  }
}

void WorldTraces::read(std::vector<TraceFetch::Source> sources, TraceFetch::OnTraces on_traces) {
  for (TraceFetch::Source& source : sources) {
    const auto began = began_.find(source.node->number());
    if (began != began_.end()) source.begin = began->second;
  }
  fetch_ = std::make_shared<TraceFetch>(loop_, world_, ++fetches_, trace::records_kept(records_), std::move(sources),
                                        std::move(on_traces));
  const auto fetch = fetch_;
  fetch->begin();
}

void WorldTraces::take(int node, TracePart part) {
  const auto fetch = fetch_;
  if (!fetch) throw Error(ErrorKind::InvalidArgument, "a trace that was not asked for");
  fetch->take(node, std::move(part));
}

void WorldTraces::lose(int node, const std::string& why) {
  if (const auto fetch = fetch_) fetch->lose(node, why);
}

}  // namespace distrun::nodes
