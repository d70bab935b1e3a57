#include "workload/call_graph.h"

#include <algorithm>
#include <cmath>

namespace stackpack::bench {
namespace {

constexpr std::uint32_t kUserFunctions = 140'000;
constexpr std::uint32_t kUserModules = 70;
constexpr std::uint32_t kKernelFunctions = 14'000;
constexpr std::uint32_t kKernelModules = 28;
constexpr double kModuleSizeExponent = 1.1;  // sizes fall off like 1 / rank^1.1

// How much a function prefers one of its call sites: nearly all have one habit, some waver, a few
// branch freely.
constexpr double kSiteSkew = 18.5;
constexpr double kHabitSkew = 60 * kSiteSkew;
constexpr double kWaverSkew = 6 * kSiteSkew;
constexpr unsigned kHabitOf256 = 242;
constexpr unsigned kWaverOf256 = 11;
constexpr unsigned kPhasedOf1024 = 4;  // functions whose habit changes with the phase

constexpr double kLeafSkew = 6.6;
constexpr double kLeafTail = 0.02;  // of samples, spread evenly over the function
constexpr double kCalleeSkew = 0.9;
constexpr unsigned kOtherModuleOf256 = 70;
constexpr std::uint32_t kVirtualTargets = 6;

constexpr std::uint32_t kMaxCodeSize = 9000;
constexpr std::uint32_t kBytesPerSite = 70;
constexpr std::uint32_t kMaxSites = 40;

double to_unit(std::uint64_t bits, unsigned count) {
  return static_cast<double>(bits & ((std::uint64_t{1} << count) - 1)) /
         static_cast<double>(std::uint64_t{1} << count);
}

std::uint32_t scaled(std::uint32_t count, double unit) {
  return std::min(count - 1, static_cast<std::uint32_t>(count * unit));
}

}  // namespace

std::uint64_t mix(std::uint64_t value) {
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ULL;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebULL;
  return value ^ (value >> 31);
}

std::uint64_t Random::next() {
  state_ += 0x9e3779b97f4a7c15ULL;
  return mix(state_);
}

std::uint32_t Random::below(std::uint32_t limit) {
  return static_cast<std::uint32_t>(((next() >> 32) * limit) >> 32);
}

double Random::unit() {
  return static_cast<double>(next() >> 11) * 0x1p-53;
}

std::uint32_t Random::skewed(std::uint32_t count, double skew) {
  return scaled(count, std::pow(unit(), skew));
}

CallGraph::CallGraph(std::uint64_t seed) {
  Random random(mix(seed + 1));
  code_.reserve(kUserFunctions + kKernelFunctions);
  add_modules(false, kUserFunctions, kUserModules, random);
  add_modules(true, kKernelFunctions, kKernelModules, random);
}

std::uint64_t CallGraph::module_base(bool kernel, std::uint32_t number, Random& random) const {
  if (kernel) {
    return 0xffff'f803'0000'0000 + std::uint64_t{random.below(0x7fff)} * 0x10'0000;
  }
  if (number == 0) {  // the program itself
    return 0x7ff6'0000'0000 + std::uint64_t{random.below(0xfff)} * 0x10'0000;
  }
  if (number % 7 == 2) {  // code made at run time
    return 0x180'0000'0000 + std::uint64_t{random.below(0xffff)} * 0x1'0000;
  }
  return 0x7ffa'0000'0000 + std::uint64_t{random.below(0xfff)} * 0x10'0000;
}

void CallGraph::add_modules(bool kernel, std::uint32_t functions, std::uint32_t modules,
                            Random& random) {
  std::vector<double> weights;
  double total = 0;
  for (std::uint32_t i = 0; i < modules; ++i) {
    weights.push_back(1.0 / std::pow(i + 1.5, kModuleSizeExponent));
    total += weights.back();
  }
  std::uint32_t left = functions;
  for (std::uint32_t i = 0; i < modules; ++i) {
    const auto share = static_cast<std::uint32_t>(functions * weights[i] / total);
    const std::uint32_t count = i + 1 == modules ? left : std::min(left, std::max(kLayers, share));
    left -= count;
    Module module{module_base(kernel, i, random), static_cast<Function>(code_.size()), count,
                  kernel};
    std::uint64_t address = module.base + 0x1000;
    for (std::uint32_t j = 0; j < count; ++j) {
      const double exponential = -std::log(1 - random.unit());
      const auto size =
          std::min(kMaxCodeSize, static_cast<std::uint32_t>(48 + 182 * exponential * exponential));
      const std::uint32_t sites = std::min(kMaxSites, 1 + size / kBytesPerSite);
      code_.push_back(
          {address, size, static_cast<std::uint16_t>(i), static_cast<std::uint8_t>(sites), kernel});
      address += (size + 15) / 16 * 16;
      if (random.below(4) == 0) {  // functions that are never seen
        address += 16 * random.below(60);
      }
    }
    (kernel ? kernel_ : user_).push_back(module);
  }
}

std::uint32_t CallGraph::site_count(Function function) const {
  return code_[function].sites;
}

CallGraph::Function CallGraph::entry(const Module& module, std::uint32_t number) const {
  const std::uint32_t entries = std::max<std::uint32_t>(1, module.count / kLayers);
  return module.first + number % entries * kLayers;
}

std::uint64_t CallGraph::return_address(Function function, std::uint32_t site) const {
  const Code& code = code_[function];
  const std::uint32_t step = std::max<std::uint32_t>(1, code.size / (code.sites + 1U));
  return code.address + 5 + std::uint64_t{step} * site + mix(function * 131ULL + site) % step;
}

std::uint32_t CallGraph::pick_site(Function function, std::uint32_t phase, Random& random) const {
  const std::uint64_t traits = mix(function * 77ULL + 5);
  const auto temper = static_cast<unsigned>(traits >> 10 & 255);
  const double skew = temper < kHabitOf256                 ? kHabitSkew
                      : temper < kHabitOf256 + kWaverOf256 ? kWaverSkew
                                                           : kSiteSkew;
  const std::uint32_t sites = code_[function].sites;
  const std::uint32_t site = random.skewed(sites, skew);
  if ((traits & 1023) >= kPhasedOf1024) {
    return site;
  }
  return static_cast<std::uint32_t>((site + mix(traits + phase)) % sites);
}

CallGraph::Function CallGraph::callee(Function function, std::uint32_t site, Random& random) const {
  std::uint64_t traits = mix(function * 1'000'003ULL + site);
  if ((traits & 15) == 0) {  // a virtual call
    traits = mix(traits + random.skewed(kVirtualTargets, 2 * kSiteSkew));
  }
  const Code& code = code_[function];
  const std::vector<Module>& modules = code.kernel ? kernel_ : user_;
  std::uint32_t module = code.module;
  if ((traits >> 8 & 255) < kOtherModuleOf256) {
    const double unit = to_unit(traits >> 16, 16);
    module = scaled(static_cast<std::uint32_t>(modules.size()), unit * unit);
  }
  const std::uint32_t layer = (function - modules[code.module].first) % kLayers;
  const std::uint32_t below = layer + 1 + static_cast<std::uint32_t>(traits >> 40 & 1);
  const std::uint32_t width = modules[module].count / kLayers;
  if (below >= kLayers || width == 0) {
    return kNoFunction;
  }
  const std::uint32_t column = scaled(width, std::pow(to_unit(traits >> 42, 20), kCalleeSkew));
  return modules[module].first + column * kLayers + below;
}

std::uint64_t CallGraph::leaf_address(Function function, Random& random) const {
  const Code& code = code_[function];
  const std::uint32_t instructions = std::max<std::uint32_t>(1, code.size / 5);
  const std::uint32_t which = random.chance(kLeafTail) ? random.below(instructions)
                                                       : random.skewed(instructions, kLeafSkew);
  return code.address + mix(function * 7919ULL + which) % code.size;
}

}  // namespace stackpack::bench
