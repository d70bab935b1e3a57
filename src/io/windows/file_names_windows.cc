#include <algorithm>
#include <array>
#include <cwctype>

#include <windows.h>

#include "io/file_names.h"
#include "io/windows/windows_names.h"

namespace stackpack::io {

namespace {

constexpr std::wstring_view kSlashes = L"/\\";

// The system takes NUL, nul.txt and `nul .txt` for the device; from Windows 11 on the first alone.
bool is_device(std::wstring_view name) {
  constexpr std::array<std::wstring_view, 6> kNames{L"CON", L"PRN",    L"AUX",
                                                    L"NUL", L"CONIN$", L"CONOUT$"};
  constexpr std::size_t kPortName = 4;
  std::wstring stem(name.substr(0, name.find(L'.')));
  while (stem.ends_with(L' ')) {
    stem.pop_back();
  }
  std::transform(stem.begin(), stem.end(), stem.begin(),
                 [](wchar_t letter) { return static_cast<wchar_t>(std::towupper(letter)); });
  return std::find(kNames.begin(), kNames.end(), stem) != kNames.end() ||
         (stem.size() == kPortName && (stem.starts_with(L"COM") || stem.starts_with(L"LPT")) &&
          stem.back() >= L'0' && stem.back() <= L'9');
}

std::string_view problem_with_name(std::wstring_view name, bool is_last) {
  if (name.empty() || name == L"." || name == L"..") {
    return {};
  }
  constexpr wchar_t kFirstPrinted = L' ';
  const auto is_refused = [](wchar_t letter) {
    return letter < kFirstPrinted ||
           std::wstring_view(L"<>:\"|?*").find(letter) != std::wstring_view::npos;
  };
  if (std::any_of(name.begin(), name.end(), is_refused)) {
    return "a name has a character that Windows does not allow";
  }
  if (name.back() == L'.' || name.back() == L' ') {
    return "a name ends in a dot or a blank, which Windows would drop";
  }
  // The plain name is a device on purpose: -o NUL.
  if (is_device(name) && !(is_last && name.find(L'.') == std::wstring_view::npos)) {
    return "a name is one that Windows keeps for a device";
  }
  return {};
}

}  // namespace

std::string_view problem_with_path(const std::string& path) {
  const std::wstring wide = to_utf16(path);
  std::wstring_view rest = wide;
  if (rest.starts_with(L"\\\\?\\") || rest.starts_with(L"\\\\.\\")) {
    return {};  // taken by the system as it is
  }
  if (rest.size() > 1 && rest[1] == L':') {
    rest.remove_prefix(2);
  }
  while (true) {
    const std::size_t end = rest.find_first_of(kSlashes);
    const bool is_last = end == std::wstring_view::npos;
    const std::string_view problem = problem_with_name(rest.substr(0, end), is_last);
    if (!problem.empty() || is_last) {
      return problem;
    }
    rest.remove_prefix(end + 1);
  }
}

std::string compared_path(const std::string& path) {
  std::wstring wide = to_utf16(path);
  std::replace(wide.begin(), wide.end(), L'\\', L'/');
  const int size = static_cast<int>(wide.size());
  std::wstring upper(wide.size(), L'\0');
  if (::LCMapStringEx(LOCALE_NAME_INVARIANT, LCMAP_UPPERCASE, wide.data(), size, upper.data(), size,
                      nullptr, nullptr, 0) == size) {
    return to_utf8(upper);
  }
  return to_utf8(wide);
}

}  // namespace stackpack::io
