#include "app/mcp/content_kind.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "app/convert/capture_probe.h"
#include "bytes/byte_text.h"
#include "io/byte_source.h"
#include "io/files_read.h"

namespace stackpack::app {

namespace {

using namespace std::string_view_literals;

constexpr std::size_t kHeadBytes = 512;
constexpr std::array<std::pair<std::string_view, std::string_view>, 8> kMagic = {{
    {"\x7f"
     "ELF"sv,
     "an ELF file (a program or library)"sv},
    {"MZ"sv, "a Windows program or library"sv},
    {"\x1f\x8b"sv, "a gzip file without a capture in it"sv},
    {"\x28\xb5\x2f\xfd"sv, "a zstd file without a capture in it"sv},
    {"PK\x03\x04"sv, "a zip archive without a capture in it"sv},
    {"SQLite format 3\0"sv, "an SQLite database"sv},
    {"PAR1"sv, "a Parquet file"sv},
    {"{"sv, "JSON of no profile that convert reads"sv},
}};

bool is_text(std::string_view head) {
  return std::none_of(head.begin(), head.end(), [](char letter) {
    const auto code = static_cast<unsigned char>(letter);
    return code == 0x7F || (code < 0x20 && letter != '\n' && letter != '\r' && letter != '\t');
  });
}

}  // namespace

std::string_view content_kind(const std::string& path) {
  const io::FilesRead::LookOnly look_only;
  const Result<bool> capture = looks_like_capture(path);
  if (!capture || *capture || looks_like_packed(path)) {
    return {};
  }
  const auto source = io::open_regular_file(path);
  std::array<std::byte, kHeadBytes> bytes{};
  const Result<std::size_t> count = source ? (*source)->read_at(0, bytes) : source.error();
  if (!count) {
    return {};
  }
  const std::string_view head = bytes::text_of(std::span(bytes).first(*count));
  if (head.empty()) {
    return "empty";
  }
  for (const auto& [magic, kind] : kMagic) {
    if (head.starts_with(magic)) {
      return kind;
    }
  }
  return is_text(head) ? "text that is no profile" : "unknown binary data";
}

}  // namespace stackpack::app
