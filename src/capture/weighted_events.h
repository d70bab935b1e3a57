// Events of a source whose weights may have digits behind the point.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "capture/callstack_sink.h"
#include "core/weight_scale.h"

namespace stackpack::capture {

/// Notice: weights of which digits are not kept.
inline constexpr std::string_view kWeightsRounded = "weights_rounded";

/// Adds a row to the event table for each name and number of digits that turns up, called
/// `NAME*10^-D` where there are some. The sink makes one event of those of a name.
class WeightedEvents {
 public:
  explicit WeightedEvents(CallstackSink& sink) : sink_(sink) {}

  std::uint32_t row_of(std::string_view name, bool has_weight, unsigned decimals = 0) {
    const auto [known, fresh] =
        rows_.try_emplace({core::scaled_unit(name, decimals), has_weight}, 0);
    if (fresh) {
      known->second = sink_.add_event({known->first.first, has_weight});
    }
    return known->second;
  }

  /// Gives a sample of the event a weight.
  void weigh(Sample& sample, std::string_view name, const core::DecimalWeight& weight,
             std::uint64_t offset) {
    sample.event = row_of(name, true, weight.decimals);
    sample.weight = weight.digits;
    if (weight.rounded) {
      sink_.losses().add(kWeightsRounded, LossKind::kNotice, 1, offset);
    }
  }

 private:
  CallstackSink& sink_;
  std::map<std::pair<std::string, bool>, std::uint32_t> rows_;
};

}  // namespace stackpack::capture
