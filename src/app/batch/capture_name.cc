#include "app/batch/capture_name.h"

#include <algorithm>
#include <array>
#include <string>

namespace stackpack::app {

namespace {

constexpr std::array<std::string_view, 3> kCompressed{".gz", ".xz", ".zst"};
constexpr std::array<std::string_view, 4> kEndings{".perf.data", ".etl", ".etl.zip",
                                                   ".diagsession"};

}  // namespace

bool is_capture_name(std::string_view name) {
  std::string lower(name);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  if (lower.starts_with("perf.data")) {
    return true;
  }
  std::string_view plain = lower;
  for (const std::string_view ending : kCompressed) {
    if (plain.ends_with(ending)) {
      plain.remove_suffix(ending.size());
      break;
    }
  }
  return std::any_of(kEndings.begin(), kEndings.end(),
                     [plain](std::string_view ending) { return plain.ends_with(ending); });
}

}  // namespace stackpack::app
