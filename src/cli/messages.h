#pragma once

#include <span>
#include <string_view>

#include "stackpack/convert.h"
#include "stackpack/result.h"

namespace stackpack::cli {

/// What makes a terminal write in a colour, and in its own again.
namespace colours {

inline constexpr std::string_view kRed = "\x1b[31m";
inline constexpr std::string_view kGreen = "\x1b[32m";
inline constexpr std::string_view kYellow = "\x1b[33m";
inline constexpr std::string_view kPlain = "\x1b[0m";

}  // namespace colours

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

  /// A line for each format: why the file was not read as one of it.
  void tried(std::string_view file, std::span<const FormatTried> formats) const;

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
