// The registry of capture formats: a new one is a folder below src/formats and a line in the .cc.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "capture/source_format.h"
#include "stackpack/result.h"

namespace stackpack::app {

/// All formats. Of two that say the same, the first one wins.
std::span<const capture::SourceFormat* const> capture_formats();

struct FormatAnswer {
  const capture::SourceFormat* format = nullptr;
  capture::Probe probe;
};

/// What all formats say to a capture that begins with `head`: those that are certain first, then
/// the possible ones, the best first. They are shown texts of any codec::TextEncoding as UTF-8.
std::vector<FormatAnswer> ask_formats(const capture::CaptureHead& head);

/// The first of them; null when it is no capture.
const capture::SourceFormat* format_of(const capture::CaptureHead& head);

/// The format of that name; null when there is none.
const capture::SourceFormat* format_named(std::string_view name);

/// The format of a file of that name, where names say it (.etl); else null.
const capture::SourceFormat* format_by_ending(std::string_view name);

/// Whether `name` ends with `ending`, which is in lower case; `name` may be in upper case.
bool ends_with(std::string_view name, std::string_view ending);

/// All loss counters that a conversion may raise, and reasons to skip bytes, sorted.
std::vector<std::string> loss_names();
std::vector<std::string> skip_reason_names();

/// Loss counters that are not up to a format.
inline constexpr std::string_view kCompressedInputDamaged = "compressed_input_damaged";
inline constexpr std::string_view kSystemFactsOverLimit = "system_facts_over_memory_limit";

/// Opens a directory that is one capture (perf record --threads).
struct OpenedDirectory {
  const capture::SourceFormat* format = nullptr;
  capture::CaptureBytes bytes;
};
Result<OpenedDirectory> open_directory(const std::string& path);

}  // namespace stackpack::app
