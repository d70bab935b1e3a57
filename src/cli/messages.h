#pragma once

#include <string_view>

#include "stackpack/result.h"

namespace stackpack::cli {

/// Messages for a person, on standard error, one line each:
///   stackpack: FILE: offset N: WHAT (errno text)
///   stackpack: FILE: warning: TEXT
/// Colours on a terminal, unless NO_COLOR is set.
class Messages {
 public:
  Messages();

  void error(std::string_view file, const Error& error) const;
  void error(std::string_view file, std::string_view text) const;
  void warning(std::string_view file, std::string_view text) const;
  void note(std::string_view file, std::string_view text) const;

  /// A line as it is, with the program's name in front.
  void plain(std::string_view text) const;

 private:
  void line(std::string_view file, std::string_view kind, std::string_view colour,
            std::string_view text) const;

  bool colours_;
};

/// Whether standard error should be colourful.
bool wants_colours();

}  // namespace stackpack::cli
