// Kernels: host code that works on device memory, together with a description of the computation as data. A driver may
// run the code on device memory, run it on a copy, or use a built-in kernel; the result is the same.
#include "driver_contract.hpp"

#include <cstring>
#include <numeric>

#include <distrun/common/base/rng.hpp>

namespace distrun::device {
namespace {

std::vector<int> counted_up(std::size_t count) {
  std::vector<int> values(count);
  std::iota(values.begin(), values.end(), 0);
  return values;
}

Region region_of(const void* memory, std::int64_t first, Dims sizes, Dims strides, Access access) {
  Region region;
  region.begin = static_cast<int*>(const_cast<void*>(memory)) + first;
  region.element_bytes = sizeof(int);
  region.sizes = std::move(sizes);
  region.strides = std::move(strides);
  region.access = access;
  return region;
}

// Calls body(element) for each element of a region of ints.
template <class Body>
void for_each(const Region& region, const Body& body) {
  std::vector<std::int64_t> index(region.sizes.size(), 0);
  for (std::int64_t left = count_of(region.sizes); left-- > 0;) {
    auto* element = static_cast<int*>(region.begin);
    for (std::size_t i = 0; i < index.size(); ++i) element += index[i] * region.strides[i];
    body(*element);
    for (std::size_t i = index.size(); i-- > 0 && ++index[i] == region.sizes[i];) index[i] = 0;
  }
}

Kernel increment(Region region) {
  region.access = Access::ReadWrite;
  return {"increment",
          {std::move(region)},
          [](const std::vector<Region>& there) { for_each(there[0], [](int& element) { ++element; }); },
          {}};
}

// Three contiguous floats.
Elementwise::Operand floats(int region) { return {ElementType::F32, region, {sizeof(float)}, {}}; }
Number number(float value) {
  Number made;
  std::memcpy(made.bytes.data(), &value, sizeof value);
  return made;
}

}  // namespace

TEST_CASE("a kernel runs on its regions") {
  const Subject subject = subject_with_driver();
  Driver& driver = *subject.driver;
  const Buffer matrix(driver, 0, 6 * sizeof(int));  // 2 rows, 3 columns
  write(driver, kDefault, matrix.data(), counted_up(6));
  driver.launch(kDefault, increment(region_of(matrix.data(), 1, {2}, {3}, Access::ReadWrite)));
  CHECK(read(driver, kDefault, matrix.data(), 6) == std::vector{0, 2, 2, 3, 5, 5});
}

TEST_CASE("kernels of a stream run one after the other") {
  const Subject subject = subject_with_driver();
  Driver& driver = *subject.driver;
  const OwnStream stream(driver);
  const Buffer there(driver, 0, 100 * sizeof(int));
  write(driver, stream, there.data(), counted_up(100));
  for (int i = 0; i < 100; ++i) {
    driver.launch(stream, increment(region_of(there.data(), i, {100 - i}, {1}, Access::ReadWrite)));
  }
  std::vector<int> expected = counted_up(100);
  for (std::size_t i = 0; i < 100; ++i) expected[i] += static_cast<int>(i) + 1;
  CHECK(read(driver, stream, there.data(), 100) == expected);
}

TEST_CASE("columns of one matrix are processed by two streams concurrently") {
  const Subject subject = subject_with_driver();
  Driver& driver = *subject.driver;
  const OwnStream left(driver);
  const OwnStream right(driver);
  constexpr int kRows = 50;
  const Buffer matrix(driver, 0, 2 * kRows * sizeof(int));
  write(driver, kDefault, matrix.data(), std::vector<int>(2 * kRows, 0));
  for (int i = 0; i < 200; ++i) {
    driver.launch(left, increment(region_of(matrix.data(), 0, {kRows}, {2}, Access::ReadWrite)));
    driver.launch(right, increment(region_of(matrix.data(), 1, {kRows}, {2}, Access::ReadWrite)));
  }
  driver.synchronize(left);
  driver.synchronize(right);
  CHECK(read(driver, kDefault, matrix.data(), 2 * kRows) == std::vector<int>(2 * kRows, 200));
}

TEST_CASE("overlapping regions are one memory") {
  const Subject subject = subject_with_driver();
  Driver& driver = *subject.driver;
  const Buffer there(driver, 0, 8 * sizeof(int));
  write(driver, kDefault, there.data(), counted_up(8));
  Kernel kernel;
  kernel.name = "shift";
  kernel.regions = {region_of(there.data(), 2, {6}, {1}, Access::ReadWrite),
                    region_of(there.data(), 0, {4}, {2}, Access::Read)};
  bool kept_distance = false;
  kernel.body = [&kept_distance](const std::vector<Region>& regions) {
    auto* const last = static_cast<int*>(regions[0].begin);
    const auto* const even = static_cast<const int*>(regions[1].begin);
    kept_distance = last - even == 2;
    for (int i = 0; i < 6; ++i) last[i] += even[i / 2 * 2];  // reads what it has just written, two elements before
  };
  driver.launch(kDefault, kernel);
  CHECK(read(driver, kDefault, there.data(), 8) == std::vector{0, 1, 2, 3, 6, 7, 12, 13});
  CHECK(kept_distance);
}

TEST_CASE("empty regions, and regions with repeated elements, are handled like others") {
  const Subject subject = subject_with_driver();
  Driver& driver = *subject.driver;
  const Buffer there(driver, 0, 4 * sizeof(int));
  write(driver, kDefault, there.data(), {7, 1, 2, 3});
  Kernel kernel;
  kernel.name = "spread";
  kernel.regions = {region_of(there.data(), 1, {3}, {1}, Access::Write),
                    region_of(there.data(), 0, {3}, {0}, Access::Read),
                    region_of(there.data(), 0, {3, 0}, {1, 1}, Access::ReadWrite)};
  kernel.body = [](const std::vector<Region>& regions) {
    for_each(regions[0], [&](int& element) { element = *static_cast<const int*>(regions[1].begin); });
  };
  driver.launch(kDefault, kernel);
  CHECK(read(driver, kDefault, there.data(), 4) == std::vector{7, 7, 7, 7});
}

TEST_CASE("an elementwise kernel computes the same as its code") {
  const Subject subject = subject_with_driver();
  Driver& driver = *subject.driver;
  const Buffer there(driver, 0, 9 * sizeof(float));
  auto* const memory = static_cast<float*>(there.data());
  const auto region = [&](int place, Access access) { return region_of(memory, 3 * place, {3}, {1}, access); };
  const auto values_of = [](const Region& each) { return static_cast<float*>(each.begin); };
  for (int place = 0; place < 2; ++place) {
    Kernel fill{"fill",
                {region(place, Access::Write)},
                {},
                Elementwise{"fill", {3}, {floats(0)}, number(3.0f - static_cast<float>(place))}};
    fill.body = [values_of, place](const auto& regions) {
      std::fill_n(values_of(regions[0]), 3, 3.0f - static_cast<float>(place));
    };
    driver.launch(kDefault, fill);
  }
  Kernel add{"add",
             {region(2, Access::Write), region(0, Access::Read), region(1, Access::Read)},
             {},
             Elementwise{"add", {3}, {floats(0), floats(1), floats(2)}, number(0.5f)}};
  add.body = [values_of](const auto& regions) {
    for (int i = 0; i < 3; ++i) {
      values_of(regions[0])[i] = values_of(regions[1])[i] + 0.5f * values_of(regions[2])[i];
    }
  };
  driver.launch(kDefault, add);
  Kernel mul{"mul",
             {region(0, Access::ReadWrite), region(2, Access::Read)},
             {},
             Elementwise{"mul", {3}, {floats(0), floats(0), floats(1)}, {}}};
  mul.body = [values_of](const auto& regions) {
    for (int i = 0; i < 3; ++i) values_of(regions[0])[i] *= values_of(regions[1])[i];
  };
  driver.launch(kDefault, mul);
  std::vector<float> got(9);
  driver.copy(kDefault, got.data(), memory, 9 * sizeof(float));
  driver.synchronize(kDefault);
  CHECK(got == std::vector<float>{12, 12, 12, 2, 2, 2, 4, 4, 4});
  if (driver.name() == "cuda") CHECK(driver.launch_statistics().own == 4);
}

TEST_CASE("kernel runs are counted by name, if they are not on the device's own memory") {
  const Subject subject = subject_with_driver();
  Driver& driver = *subject.driver;
  const Buffer there(driver, 0, 4 * sizeof(int));
  write(driver, kDefault, there.data(), counted_up(4));
  for (int i = 0; i < 3; ++i) {
    driver.launch(kDefault, increment(region_of(there.data(), 0, {4}, {1}, Access::ReadWrite)));
  }
  driver.synchronize(kDefault);
  const LaunchStatistics statistics = driver.launch_statistics();
  CHECK(statistics.own == 0);
  if (driver.name() == "cuda") {
    CHECK(statistics.staged == std::map<std::string, std::uint64_t, std::less<>>{{"increment", 3}});
  } else {
    CHECK(statistics.staged.empty());
  }
}

// A kernel changes the elements of its regions as on the host, and nothing else.
TEST_CASE("kernels over random regions make the same changes as on the host") {
  const Subject subject = subject_with_driver();
  Driver& driver = *subject.driver;
  constexpr std::int64_t kElements = 400;
  const Buffer there(driver, 0, kElements * sizeof(int));
  std::vector<int> here = counted_up(kElements);
  write(driver, kDefault, there.data(), here);
  base::Rng draw(17);
  for (int round = 0; round < 300; ++round) {
    std::vector<Region> on_device, on_host;
    for (std::uint64_t count = 1 + draw.below(3); count-- > 0;) {
      Dims sizes, strides;
      std::int64_t first = 0, last = 0;
      for (std::uint64_t dims = draw.below(4); dims-- > 0;) {
        sizes.push_back(1 + static_cast<std::int64_t>(draw.below(4)));
        strides.push_back(static_cast<std::int64_t>(draw.below(41)) - 20);
        (strides.back() < 0 ? first : last) += strides.back() * (sizes.back() - 1);
      }
      const std::int64_t begin =
          static_cast<std::int64_t>(draw.below(static_cast<std::uint64_t>(kElements - last + first))) - first;
      const Access access = draw.below(2) == 0 ? Access::Read : Access::ReadWrite;
      on_device.push_back(region_of(there.data(), begin, sizes, strides, access));
      on_host.push_back(region_of(here.data(), begin, sizes, strides, access));
    }
    const auto body = [](const std::vector<Region>& regions) {
      int sum = 0;
      for (const Region& region : regions)
        for_each(region, [&](int& element) { sum = sum * 31 % 10007 + element % 10007; });
      for (const Region& region : regions) {
        if (region.access != Access::Read) for_each(region, [&](int& element) { element = (element + sum) % 10007; });
      }
    };
    body(on_host);
    driver.launch(kDefault, {"mix", on_device, body, {}});
  }
  CHECK(read(driver, kDefault, there.data(), kElements) == here);
}

}  // namespace distrun::device
