#include <catch2/catch.hpp>

#include <distrun/runner/plan/machine_gpus.hpp>

using namespace distrun;
using namespace distrun::runner;
using launch::Resources;

namespace {

const std::vector<Resources> kMachines{{"node01", 8, 0, 4, ""}, {"node02", 8, 0, 2, ""}};

Settings settings_with(const std::string& driver, int gpus = 0) {
  Settings settings;
  settings.gpu_driver = driver;
  settings.gpus = gpus;
  return settings;
}

wire::TestInfo needs(int devices, bool one_each) {
  wire::TestInfo test;
  test.devices = devices;
  test.gpu_per_rank = one_each;
  return test;
}

}  // namespace

TEST_CASE("a run has the GPUs of its machines, each of which emulates as many as --gpus says") {
  CHECK(gpus_in_all(kMachines, settings_with("auto", 99)) == 6);
  CHECK(gpus_in_all(kMachines, settings_with("virtual", 3)) == 6);
  CHECK(gpus_in_all(kMachines, settings_with("none")) == 0);
  CHECK(gpus_on(kMachines[1], settings_with("cuda")) == 2);
}

TEST_CASE("settings say what the machines have, and name one if there are no GPUs") {
  Settings settings = settings_with("cuda", 99);
  settings.why_no_gpu = "this machine has no NVIDIA device";
  take_gpus({}, settings);
  CHECK(settings.gpus == 99);
  take_gpus(kMachines, settings);
  CHECK(settings.gpus == 6);
  CHECK(settings.why_no_gpu.empty());
  take_gpus({{"node01", 1, 0, 0, "node01 has no NVIDIA device"}, {"node02", 1, 0, 0, "nor has node02"}}, settings);
  CHECK(settings.gpus == 0);
  CHECK(settings.why_no_gpu == "node01 has no NVIDIA device");
  Settings emulated = settings_with("virtual", 3);
  take_gpus(kMachines, emulated);
  CHECK(emulated.gpus == 3);  // as the command line that repeats a test says
}

TEST_CASE("ranks with a device each need as many as run on their machine") {
  const Settings settings = settings_with("auto");
  CHECK(why_no_devices(needs(6, true), kMachines, {4, 2}, settings).empty());
  CHECK(why_no_devices(needs(6, true), kMachines, {3, 3}, settings) ==
        "needs a device for each of its 3 ranks on node02, which has 2; --hosts node02:2 gives it fewer ranks");
  wire::TestInfo for_each_gpu = needs(6, false);
  for_each_gpu.world_rule = wire::WorldRule::Gpus;
  CHECK_THAT(why_no_devices(for_each_gpu, kMachines, {3, 3}, settings),
             Catch::StartsWith("needs a device for each of its 3 ranks on node02"));
}

TEST_CASE("ranks that share devices need all of them on each machine on which one of them runs") {
  const Settings settings = settings_with("auto");
  CHECK(why_no_devices(needs(3, false), kMachines, {2, 2}, settings) == "needs 3 devices on node02, which has 2");
  CHECK(why_no_devices(needs(3, false), kMachines, {4, 0}, settings).empty());
  CHECK(why_no_devices(needs(0, false), kMachines, {4, 4}, settings).empty());
  const std::vector<Resources> half{{"node01", 8, 0, 1, ""}, {"node02", 8, 0, 0, "node02 has no NVIDIA device"}};
  CHECK(why_no_devices(needs(1, false), half, {1, 1}, settings) ==
        "needs 1 device on node02: node02 has no NVIDIA device");
}
