// Labels of samples: what the program, or its profiler, says of a sample besides its callstack,
// such as the route of the request that was served. See docs/event-values.md; docs/format.md,
// section 7, for how they are stored.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace stackpack {

enum class LabelType : std::uint8_t {
  kText = 0,
  kInteger = 1,
  kReal = 2,
  kBool = 3,
};

/// A key and a value.
struct Label {
  std::string key;
  LabelType type = LabelType::kText;
  std::string text;          ///< of kText
  std::uint64_t number = 0;  ///< of the others: bits of an int64_t, of a double; 0 or 1
  std::string unit;          ///< of kInteger; empty: not told

  friend bool operator==(const Label&, const Label&) = default;
};

/// All labels of a sample, by key; a key may have several values.
using LabelSet = std::vector<Label>;

}  // namespace stackpack
