// Helpers of ported tests that open profiles and find events.
#include "support/groups.hpp"

#include "suites.hpp"

using namespace distrun;
using namespace distrun::suites;

namespace {

using Texts = std::vector<std::string>;

Texts names_of(const Events& events) {
  Texts names;
  for (const profiler::Event& each : events) names.push_back(each.name);
  return names;
}

profiler::Event event_of(const std::string& name, std::int64_t nanoseconds) {
  profiler::Event event;
  event.name = name;
  event.end = event.begin + base::Nanoseconds(nanoseconds);
  return event;
}

}  // namespace

DISTRUN_TEST(ProfilerHelpers, the_first_event_with_a_part_of_a_name_is_found) {
  rank.note("rows", "[row:profiling/get_function_event-events-partial-name]");
  const Events events = recorded([] {
    const profiler::Span outer("outer scope");
    const profiler::Span inner("inner scope");
  });
  DISTRUN_EXPECT(get_function_event(events, "scope").name == "outer scope");
  DISTRUN_EXPECT(get_function_event(events, "inner").name == "inner scope");
  DISTRUN_EXPECT_THROWS(Error, "no event has \"none\" in its name; there are: outer scope, inner scope",
                        get_function_event(events, "none"));
}

DISTRUN_TEST(ProfilerHelpers, events_are_found_by_either_end_of_their_names) {
  rank.note("rows", "[row:profiling/get_profiling_event-name-profiler-dedup_gpu_user_annotation-false]");
  for (const ProfileOptions& options : {autograd_profiler(), general_profiler()}) {
    Profile profile(options);
    for (const char* const name : {"gloo:all_reduce", "all_reduce:gloo", "a gloo b"}) const profiler::Span span(name);
    profile.end();
    const Texts both{"gloo:all_reduce", "all_reduce:gloo"};
    DISTRUN_EXPECT(names_of(get_profiling_event("gloo", profile)) == both);
    DISTRUN_EXPECT(names_of(get_profiling_event("gloo", profile, true)) == both);
    DISTRUN_EXPECT(names_of(get_profiling_event("a gloo b", profile)) == Texts{"a gloo b"});
    DISTRUN_EXPECT(get_profiling_event("gloo b", profile).size() == 1u);
    DISTRUN_EXPECT(get_profiling_event("all_reduce", profile).size() == 2u);
    DISTRUN_EXPECT(get_profiling_event("l_reduc", profile).empty());
    DISTRUN_EXPECT(get_profiling_event("nccl", profile).empty());
  }
  // Events of the host with its kernel, of the host alone, and of the device alone.
  profiler::Event host = event_of("gloo:all_reduce", 5), device = event_of("gloo:all_reduce", 0);
  host.kernels = device.kernels = {{"gloo:all_reduce", 0, base::Nanoseconds(3)}};
  const Events events{host, event_of("gloo:barrier", 0), device};
  DISTRUN_EXPECT(get_profiling_event("gloo", events).size() == 3u);
  const Events deduped = get_profiling_event("gloo", events, true);
  DISTRUN_EXPECT(names_of(deduped) == (Texts{"gloo:all_reduce", "gloo:barrier"}));
  DISTRUN_EXPECT(deduped.front().duration() == base::Nanoseconds(5));
}

DISTRUN_TEST(ProfilerHelpers, both_ways_to_open_a_profile_record_shapes) {
  rank.note("rows", "[row:profiling/_create_autograd_profiler-_create_torch_profiler]");
  for (const ProfileOptions& options : {autograd_profiler(), general_profiler()}) {
    const Events events = recorded([] { ones({2, 3}) + ones({3}); }, options);
    const profiler::Event& add = get_function_event(events, "aten::add");
    DISTRUN_EXPECT(add.input_shapes == std::vector<std::vector<std::int64_t>>{{2, 3}, {3}});
    DISTRUN_EXPECT(add.kernels.empty());
  }
}

DISTRUN_TEST(ProfilerHelpers, collectives_tell_of_themselves_in_a_trace) {
  rank.note("rows", "[row:profiling/get_profiler_nccl_meta-prof]");
  initialize_pg(std::string(rank.init_method()), rank.rank(), rank.world_size());
  const auto group = default_group();
  Profile profile;
  group->all_reduce(ones({2, 3}));
  group->barrier();
  profile.end();
  const std::vector<Json> found = get_profiler_nccl_meta(rank, profile);
  DISTRUN_REQUIRE(found.size() == 2u);
  const Json& arguments = found.front().at("args");
  DISTRUN_EXPECT(arguments.at("Collective name").text == "all_reduce");
  DISTRUN_EXPECT(arguments.at("dtype").text == "float32");
  DISTRUN_EXPECT(arguments.at("In msg nelems").text == "6");
  DISTRUN_EXPECT(arguments.at("Out msg nelems").text == "6");
  DISTRUN_EXPECT(arguments.at("Group size").text == std::to_string(rank.world_size()));
  DISTRUN_EXPECT(arguments.at("Process Group Name").text == group->name());
  DISTRUN_EXPECT(arguments.at("Process Group Ranks").text.starts_with("[0"));
  DISTRUN_EXPECT(found.back().at("args").at("Collective name").text == "barrier");
}
