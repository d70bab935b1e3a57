// What reports ask of the labels of samples: which samples are wanted, and what the values of a key
// are called.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/string_table.h"
#include "query/selection/capture_view.h"
#include "stackpack/labels.h"
#include "stackpack/result.h"

namespace stackpack::query {

/// What a label says: `/pay`, `4096`, `25 milliseconds`. Valid UTF-8.
std::string label_text(const Label& label);

/// What samples without a label are called.
inline constexpr std::string_view kNoLabel = "[no label]";

/// Whether any sample of the file has a label of that key. Errors: those of the view.
Result<bool> has_label(const CaptureView& view, std::string_view key);

/// Which samples have the labels that a filter asks for.
class LabelFilter {
 public:
  /// Errors: kUsage for a condition without `=`, or where samples have no labels; those of the
  /// view.
  static Result<LabelFilter> create(const CaptureView& view,
                                    std::span<const std::string> conditions);

  [[nodiscard]] bool active() const { return active_; }
  /// `set`: a row of the file's sets; kNoRow: the sample has no labels.
  [[nodiscard]] bool wants(std::uint32_t set) const {
    return set < wanted_.size() ? wanted_[set] : wants_unlabelled_;
  }

 private:
  bool active_ = false;
  bool wants_unlabelled_ = true;
  std::vector<bool> wanted_;
};

/// The values of one key. A sample with several of them is a row of its own, `a, b`.
class LabelValues {
 public:
  /// Errors: those of the view.
  static Result<LabelValues> load(const CaptureView& view, std::string_view key);

  /// Whether any sample has the key.
  [[nodiscard]] bool any() const { return texts_.size() > 1; }

  /// A number for title(). `set`: as of LabelFilter.
  [[nodiscard]] std::uint32_t find(std::uint32_t set) const {
    return set < values_.size() ? values_[set] : 0;
  }
  /// kNoLabel where the sample has none.
  [[nodiscard]] std::string_view title(std::uint32_t number) const { return texts_.text(number); }

 private:
  core::StringTable texts_;
  std::vector<std::uint32_t> values_;  // by set
};

}  // namespace stackpack::query
