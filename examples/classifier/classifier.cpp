// A network that assigns points to three spirals. The first test trains it, on any number of ranks, and saves it as
// model.safetensors, here or in CLASSIFIER_MODEL; the second loads it and classifies without training.
//
//   distrun --world-size 2 --filter '*.learns_three_spirals' --show-output classifier.so
//   distrun --filter '*.knows_them_again' --show-output classifier.so
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>

#include <distrun/collectives.hpp>
#include <distrun/tensors.hpp>
#include <distrun/test.hpp>

using namespace distrun;

namespace {

constexpr std::int64_t kClasses = 3, kPointsOfClass = 200;
constexpr int kSteps = 300, kSlowFrom = 200;
constexpr double kAccuracyWanted = 0.97;

std::string model_file() {
  const char* const named = std::getenv("CLASSIFIER_MODEL");
  return named == nullptr ? "model.safetensors" : named;
}

struct Points {
  Tensor places;   // [N, 2]
  Tensor classes;  // [N], the spiral of each
};

// Reproducible by the seed. An arm begins in the middle and goes round once, with some noise.
Points spirals(std::uint64_t seed) {
  manual_seed(seed);
  TensorList places, classes;
  for (std::int64_t arm = 0; arm < kClasses; ++arm) {
    const Tensor along = rand({kPointsOfClass}) * 0.95 + 0.05;
    const Tensor angle = along * 6.28 + static_cast<double>(arm) * 2.094 + randn({kPointsOfClass}) * 0.1;
    places.push_back(stack({along * cos(angle), along * sin(angle)}, 1));
    classes.push_back(full({kPointsOfClass}, arm, {DType::I64}));
  }
  return {cat(places), cat(classes)};
}

std::shared_ptr<nn::Sequential> make_network() {
  return std::make_shared<nn::Sequential>(std::vector<std::shared_ptr<nn::Module>>{
      std::make_shared<nn::Linear>(2, 64), std::make_shared<nn::Tanh>(), std::make_shared<nn::Linear>(64, 64),
      std::make_shared<nn::Tanh>(), std::make_shared<nn::Linear>(64, kClasses)});
}

// Returns the share of points, unseen in training, that the network assigns correctly.
double accuracy_of(nn::Module& network) {
  const NoGradGuard unrecorded;
  const Points points = spirals(1);
  const Tensor is_right = eq(argmax(network(points.places), 1), points.classes);
  return sum(is_right).item_as<double>() / static_cast<double>(is_right.numel());
}

}  // namespace

// Each rank trains on separate points; gradients are averaged over all ranks.
DISTRUN_TEST(Classifier, learns_three_spirals) {
  manual_seed(rank.shared_seed());
  nn::DataParallel network(make_network(), init_process_group(rank));
  nn::Adam optimizer(network.module().parameters(),
                     {.learning_rate = 0.01, .weight_decay = 0.01, .decoupled_weight_decay = true});
  const nn::CrossEntropyLoss loss_of;
  const Points points = spirals(10 + static_cast<std::uint64_t>(rank.rank()));
  for (int step = 0; step < kSteps; ++step) {
    if (step == kSlowFrom) optimizer.set_learning_rate(0.002);
    optimizer.zero_grad();
    const Tensor loss = loss_of(network(points.places), points.classes);
    backward(loss);
    optimizer.step();
    if (step % 100 == 0) std::printf("step %3d  loss %.4f\n", step, loss.item_as<double>());
  }
  const double accuracy = accuracy_of(network.module());
  std::printf("accuracy %.4f\n", accuracy);
  DISTRUN_EXPECT(accuracy >= kAccuracyWanted);
  if (rank.is_master()) nn::save(network.module(), model_file(), {{"accuracy", std::to_string(accuracy)}});
}

DISTRUN_TEST(Classifier, knows_them_again, .world_size = fixed(1)) {
  if (!std::filesystem::exists(model_file())) skip("there is no " + model_file() + ": train first");
  const tensor::Safetensors file = tensor::load_safetensors(model_file());
  const auto network = make_network();
  network->load_state_dict(file.tensors);
  const double accuracy = accuracy_of(*network);
  std::printf("accuracy %.4f\n", accuracy);
  DISTRUN_EXPECT(std::to_string(accuracy) == file.metadata.at("accuracy"));
}
