// The names of formats.

#include <algorithm>
#include <array>

#include "stackpack/export.h"

namespace stackpack {

namespace {

constexpr std::array<std::string_view, 8> kFormatNames = {
    "folded", "pprof", "speedscope", "firefox", "otlp", "csv", "html", "perfetto"};

}  // namespace

std::span<const std::string_view> export_format_names() {
  return kFormatNames;
}

std::optional<ExportFormat> export_format_of(std::string_view name) {
  const auto found = std::find(kFormatNames.begin(), kFormatNames.end(), name);
  if (found == kFormatNames.end()) {
    return std::nullopt;
  }
  return static_cast<ExportFormat>(found - kFormatNames.begin());
}

}  // namespace stackpack
