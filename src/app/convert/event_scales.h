// Events whose weights have digits behind the point.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stackpack/model.h"

namespace stackpack::app {

/// Makes one event of `samples`, `samples*10^-1` and `samples*10^-2`, as capture::WeightedEvents
/// adds them: whole numbers that stand for ones with as many digits behind the point. It has the
/// most digits of them, or as many as leave the sum of its weights in 63 bits; its unit says so.
class EventScales {
 public:
  /// A row of the event table, from 0 on.
  void add_row() { sums_.push_back(0); }
  /// A sample of one.
  void add_weight(std::uint32_t event, std::uint64_t weight) {
    sums_[event] += static_cast<double>(weight);
  }

  /// After the last sample: joins rows of `events`. A joined one is where its first row was.
  void settle(std::vector<Event>& events);

  /// Whether rows were joined: samples have the events that apply() gives them.
  [[nodiscard]] bool any() const { return !places_.empty(); }
  void apply(Sample& sample);
  /// Samples whose weight lost digits.
  [[nodiscard]] std::uint64_t rounded() const { return rounded_; }

  /// The units of the joined events in metadata, which is by key, say how they are scaled.
  void mark_units(std::vector<MetadataEntry>& metadata) const;

 private:
  struct Place {
    std::uint32_t event = 0;
    unsigned up = 0;    // digits that are added to a weight
    unsigned down = 0;  // digits that are taken from it
  };
  struct Joined {
    std::string name;
    bool has_weight = false;
    unsigned decimals = 0;
  };

  void choose_decimals(const std::vector<Event>& rows);

  std::vector<double> sums_;  // by row
  std::vector<Place> places_;
  std::vector<Joined> joined_;
  std::uint64_t rounded_ = 0;
};

}  // namespace stackpack::app
