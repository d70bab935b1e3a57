// How values of events and fields of samples are written.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "stackpack/event_values.h"
#include "stackpack/labels.h"
#include "stackpack/sample_fields.h"

namespace stackpack::app {

/// A value of an event as listings write it, but texts: `-` where there is none.
std::string value_text(ValueType type, std::uint64_t value);

/// What a label says.
std::string label_value(const Label& label);

/// Which kinds are listed, by row: those whose name fits a pattern, or all without patterns.
/// `tracepoints`: those alone that the capture describes.
std::vector<bool> listed_kinds(std::span<const ValueSchema> kinds,
                               const std::vector<std::string>& patterns, bool tracepoints);

/// What the control group of a row of fields is called; empty where it has none.
std::string control_group_of(const FieldRow& row, const std::vector<ControlGroup>& groups);

}  // namespace stackpack::app
