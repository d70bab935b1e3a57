// A program that never ran: modules, functions and who calls whom, from a seed.
//
// The graph is fixed once it is made; only the path through it is random. Functions stand in
// layers, and a callee is one or two layers below its caller, in the same module or in another one,
// so that depth is bounded and different paths meet again in popular functions. Most functions
// nearly always make the same call (a hot site); a few branch. That is what makes call trees of
// real programs narrow: new callstacks differ from known ones near the leaf.
#pragma once

#include <cstdint>
#include <vector>

namespace stackpack::bench {

/// Splitmix64: every bit of the sequence follows from the seed, on any machine.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next();
  std::uint32_t below(std::uint32_t limit);  ///< 0 .. limit - 1
  double unit();                             ///< 0 <= x < 1
  bool chance(double probability) { return unit() < probability; }

  /// Index below `count`, small ones more often the larger the `skew` is; 1 is uniform.
  std::uint32_t skewed(std::uint32_t count, double skew);

 private:
  std::uint64_t state_;
};

/// The finalizer of splitmix64, as a hash.
std::uint64_t mix(std::uint64_t value);

class CallGraph {
 public:
  using Function = std::uint32_t;
  static constexpr Function kNoFunction = ~Function{0};
  static constexpr std::uint32_t kLayers = 72;

  explicit CallGraph(std::uint64_t seed);

  struct Module {
    std::uint64_t base = 0;
    Function first = 0;
    std::uint32_t count = 0;
    bool kernel = false;
  };
  [[nodiscard]] const std::vector<Module>& user_modules() const { return user_; }
  [[nodiscard]] const std::vector<Module>& kernel_modules() const { return kernel_; }
  [[nodiscard]] std::uint32_t site_count(Function function) const;

  /// A function of layer 0, where threads start.
  [[nodiscard]] Function entry(const Module& module, std::uint32_t number) const;

  /// The address that a call from `site` returns to.
  [[nodiscard]] std::uint64_t return_address(Function function, std::uint32_t site) const;

  /// Which call the function is in this time. `phase` moves the habits of a few functions.
  std::uint32_t pick_site(Function function, std::uint32_t phase, Random& random) const;

  /// Who is called from there, or kNoFunction in the lowest layer.
  Function callee(Function function, std::uint32_t site, Random& random) const;

  /// Where in its own code the function is: a few hot instructions, and a long tail.
  std::uint64_t leaf_address(Function function, Random& random) const;

 private:
  struct Code {
    std::uint64_t address = 0;
    std::uint32_t size = 0;
    std::uint16_t module = 0;
    std::uint8_t sites = 0;
    bool kernel = false;
  };
  void add_modules(bool kernel, std::uint32_t functions, std::uint32_t modules, Random& random);
  [[nodiscard]] std::uint64_t module_base(bool kernel, std::uint32_t number, Random& random) const;

  std::vector<Code> code_;
  std::vector<Module> user_;
  std::vector<Module> kernel_;
};

}  // namespace stackpack::bench
