// The formats that an input may be of, to be tried one after the other.
#pragma once

#include <cstddef>
#include <vector>

#include "app/convert/capture_formats.h"
#include "capture/format_probe.h"
#include "stackpack/convert.h"
#include "stackpack/result.h"

namespace stackpack::app {

class FormatChoice {
 public:
  /// None.
  FormatChoice() = default;

  /// One that is known, and no other.
  explicit FormatChoice(const capture::SourceFormat& known);

  /// The one that is certain of a capture that begins with `head`, or all that it may be of, the
  /// best first.
  explicit FormatChoice(const capture::CaptureHead& head);

  /// The one whose turn it is; null when there is none.
  [[nodiscard]] const capture::SourceFormat* format() const;

  /// Others follow it.
  [[nodiscard]] bool has_more() const { return at_ + 1 < candidates_; }

  /// The input was read as format(), which failed with `error`. True when another format is to be
  /// tried: not for errors that say nothing of the content.
  bool choose_next(const Error& error);

  /// The error when no format is left, `last` being that of the last one.
  [[nodiscard]] Error error_of_all(const Error& last) const;

  /// What each format says, or why reading failed. Empty when one was certain or
  /// asked for, and when the last error says nothing of the content.
  [[nodiscard]] std::vector<FormatTried> tried() const;

 private:
  std::vector<FormatAnswer> answers_;
  Error no_format_;
  std::vector<Error> errors_;   // of the first ones, as they were read
  std::size_t candidates_ = 0;  // the first ones
  std::size_t at_ = 0;
};

}  // namespace stackpack::app
