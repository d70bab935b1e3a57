// A set of labels as bytes: those of equal sets are equal.
#pragma once

#include <string>

#include "bytes/byte_cursor.h"
#include "stackpack/labels.h"

namespace stackpack::bytes {

/// Longest key, unit and text; longer ones are cut.
inline constexpr std::size_t kMaxLabelKeyBytes = 255;
inline constexpr std::size_t kMaxLabelTextBytes = 4096;
/// Most labels of a set.
inline constexpr std::size_t kMaxLabels = 128;

/// Puts a set in order, each label once, and replaces `out` by its bytes. A label is its key, the
/// type, and the value: a text; a number and its unit; eight bytes; one byte. Texts have their
/// length as a varint before them, integers are varints (zigzag).
/// Result: labels that were left out because there were too many, or were cut.
std::size_t write_labels(LabelSet& labels, std::string& out);

/// Replaces `labels` by those of the bytes that are left. False: they are none, or not in order.
bool read_labels(ByteCursor in, LabelSet& labels);

}  // namespace stackpack::bytes
