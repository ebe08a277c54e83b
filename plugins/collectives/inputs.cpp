// Inputs of networks and of object collectives that are more than a tensor.
#include <distrun/runtime/nn/data_parallel.hpp>

#include "support/networks.hpp"
#include "support/objects.hpp"
#include "values.hpp"

namespace {

using namespace distrun;
using namespace distrun::suites;

// Adds the fields of its input, and reports the devices of their tensors.
class AddsFields final : public nn::Module {
 public:
  AddsFields() { add_parameter("factor", ones({1})); }
  Tensor operator()(const NamedInputs& inputs, const std::vector<Tensor>& more) {
    devices = {inputs.a.device(), inputs.b.device(), more.front().device()};
    return (inputs.a + inputs.b + more.front()) * parameter(0);
  }
  std::vector<Device> devices;
};

// Checks each object against the ported tests' list.
void expect_listed(const std::vector<Object>& all) {
  DISTRUN_REQUIRE(all.size() == 5U);
  using Kind = Object::Kind;
  DISTRUN_EXPECT(all[0] == map_of({{"key1", of(3)}, {"key2", of(4)}, {"key3", map_of({{"nested", of(true)}})}}));
  DISTRUN_EXPECT((all[1].kind == Kind::Foo && all[1].keys == std::vector<std::string>{"x", "bar"}));
  DISTRUN_EXPECT(all[1].parts.at(0) == of(10));
  DISTRUN_EXPECT(all[1].parts.at(1) == of(1));
  DISTRUN_EXPECT((all[2].kind == Kind::Foo && all[2].keys == std::vector<std::string>{"x"}));
  DISTRUN_REQUIRE(all[2].parts.at(0).kind == Kind::Tensor);
  DISTRUN_EXPECT(tensor_of(all[2].parts[0].tensor).sizes() == Dims({3, 3}));
  DISTRUN_EXPECT(all[3] == of("foo"));
  DISTRUN_EXPECT(all[4] == list_of({of(1), of(2), of(true), of("string"), list_of({of(4), of(5), of("nested")})}));
}

}  // namespace

DISTRUN_SUITE(Inputs, .skip = {needs_gpus_for_nccl()});

DISTRUN_TEST(Inputs, that_name_their_fields_are_built_again_where_the_network_is) {
  rank.note("rows", "[row:ddp_inputs/named-tuple-inputs]");
  const auto group = init_process_group(rank);
  const bool has_gpus = device::gpu_count() > 0;
  const Device device = has_gpus ? own_gpu(rank) : device::kCpu;
  const auto module = std::make_shared<AddsFields>();
  module->to(device);
  nn::DataParallel<AddsFields> net(module, group, {.device = device});
  for (const NamedInputs& inputs :
       {NamedInputs{full({2}, 1), full({2}, 2)}, named_inputs(full({2}, 1), full({2}, 2))}) {
    const Tensor y = net(inputs, TensorList{full({2}, rank.rank())});
    expect_same(to(detach(y), device::kCpu), full({2}, 3 + rank.rank()));
    DISTRUN_EXPECT(inputs.a.device() == device::kCpu);
  }
  for (const Device each : module->devices) DISTRUN_EXPECT(each == device);
}

DISTRUN_TEST(Inputs, of_a_class_are_equal_by_the_attributes_of_the_left_one) {
  rank.note("rows", "[row:ddp_inputs/Foo-and-its-equality]");
  Object foo = foo_of(of(10));
  const Object plain = foo;
  set_attribute(foo, "bar", of(1));
  DISTRUN_EXPECT(plain == foo);
  DISTRUN_EXPECT(!(plain == foo_of(of(11))));
  DISTRUN_EXPECT_THROWS(Error, "'Foo' object has no attribute 'bar'", (void)(foo == plain));
  const Tensor x = rand({3, 3});
  DISTRUN_EXPECT(foo_of(of(x)) == foo_of(of(x)));
  DISTRUN_EXPECT(!(foo_of(of(x)) == foo_of(of(x + 1))));
  expect_same(tensor_of(object_of(x)), x);
}

DISTRUN_TEST(Inputs, of_all_kinds_go_to_all_ranks) {
  rank.note("rows", "[row:ddp_inputs/COLLECTIVES_OBJECT_TEST_LIST] [row:ddp_inputs/Foo-and-its-equality]");
  const auto group = init_process_group(rank);
  manual_seed(5);
  const std::vector<Object> all = collectives_object_test_list();
  expect_listed(all);
  for (std::size_t first = 0; first < all.size(); ++first) {
    const auto own = (first + static_cast<std::size_t>(rank.rank())) % all.size();
    const std::vector<Object> got = all_gather_object(*group, all[own]);
    DISTRUN_REQUIRE(got.size() == static_cast<std::size_t>(rank.world_size()));
    for (std::size_t from = 0; from < got.size(); ++from) DISTRUN_EXPECT(got[from] == all[(first + from) % all.size()]);
  }
  std::vector<Object> received;
  for (const Object& each : all) received.push_back(broadcast_object(*group, rank.rank() == 0 ? each : of(0)));
  expect_listed(received);
  DISTRUN_EXPECT(received[2] == all[2]);
}

DISTRUN_TEST(Inputs, of_uneven_training_have_their_defaults) {
  rank.note("rows", "[row:ddp_inputs/DDPUnevenTestInput]");
  const DDPUnevenTestInput input{.name = "batch norm", .model = bn_net(), .inp = ones({4, 2})};
  DISTRUN_EXPECT(input.sync_interval == 1);
  DISTRUN_EXPECT(!input.throw_on_early_termination);
  DISTRUN_EXPECT(!input.hook);
  DISTRUN_EXPECT(input.state == nullptr);
  DISTRUN_EXPECT(input.model->forward(std::get<Tensor>(input.inp)).sizes() == Dims({4, 4}));
}
