#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "capture/callstack_sink.h"

namespace stackpack::etl {

/// The rows of the sink's event table, by name. The traces of a session share them: an event has
/// one row whichever of them logged it.
class EventRows {
 public:
  /// `sink` must outlive this.
  explicit EventRows(capture::CallstackSink& sink) : sink_(sink) {}

  /// The row of the event `name`, which is added when it is new.
  std::uint32_t row_of(const std::string& name, bool has_weight = false) {
    const auto found = rows_.find(name);
    if (found != rows_.end()) {
      return found->second;
    }
    const std::uint32_t row = sink_.add_event({name, has_weight});
    rows_.emplace(name, row);
    return row;
  }

 private:
  capture::CallstackSink& sink_;
  std::map<std::string, std::uint32_t> rows_;
};

}  // namespace stackpack::etl
