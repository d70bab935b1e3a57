#include "app/convert/known_content.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "bytes/byte_text.h"

namespace stackpack::app {

namespace {

struct KnownContent {
  std::size_t offset = 0;
  std::string_view begin;  ///< what stands there
  std::string_view what;
};

constexpr std::string_view kEdges =
    "is a profile of callgrind, which has edges between functions, no callstacks: `perf record -g` "
    "records those";

constexpr KnownContent kKnown[] = {
    {0,
     "\x7F"
     "ELF",
     "is an ELF file, a program or library; not a capture"},
    {0, std::string_view("MZ\x90\0", 4), "is a program or library for Windows; not a capture"},
    {0, "\xCF\xFA\xED\xFE", "is a program or library for macOS; not a capture"},
    {0, "Microsoft C/C++ MSF 7.00", "is a PDB file; not a capture: --symbols takes it"},
    {0, "!<arch>\n", "is a library of object files; not a capture"},
    {257, "ustar", "is a tar archive; unpack it first"},
    {0, "BZh", "compressed with bzip2: unpack it first"},
    {0, "\x04\x22\x4D\x18", "compressed with lz4: unpack it first"},
    {0, "7z\xBC\xAF\x27\x1C", "is a 7-Zip archive; unpack it first"},
    {0, "SQLite format 3", "is a database of SQLite; not a capture"},
    {0, "PAR1", "is a Parquet file; not a capture"},
    {0, "\x89PNG", "is a picture; not a capture"},
    {0, "%PDF-", "is a PDF file; not a capture"},
    {0, "# callgrind format", kEdges},
    {0, "version: 1\ncreator: callgrind", kEdges},
    {0, "creator: callgrind", kEdges},
    {0,
     "\x17\x08\x44"
     "tracing",
     "is a trace.dat of trace-cmd, which is not read: `perf record -a -g -e EVENT` records the "
     "same events with their callstacks"},
    {0, "v8-version,",
     "is a log of `node --prof`, which is not read: `node --cpu-prof` writes a profile that is"},
    {0, "{\"snapshot\":{\"meta\":",
     "is a snapshot of V8's heap, which has no callstacks: `node --heap-prof` records those of "
     "allocations"},
};

bool begins_at(std::string_view text, const KnownContent& known) {
  return text.size() >= known.offset && text.substr(known.offset).starts_with(known.begin);
}

// A flame graph is not far from its text.
std::string_view name_of_markup(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
  if (!text.starts_with('<')) {
    return {};
  }
  if (text.find("<svg") != std::string_view::npos) {
    return "is an SVG picture; not a capture: of a flame graph the folded text is read";
  }
  return text.starts_with("<?xml") ? "is XML; not a capture" : "is a page of HTML; not a capture";
}

std::string_view name_of(std::string_view text) {
  const auto* const known =
      std::find_if(std::begin(kKnown), std::end(kKnown),
                   [&](const KnownContent& entry) { return begins_at(text, entry); });
  if (known != std::end(kKnown)) {
    return known->what;
  }
  return name_of_markup(text);
}

}  // namespace

Error error_of_content(std::span<const std::byte> head) {
  const std::string_view name = name_of(bytes::text_of(head));
  return name.empty()
             ? Error{ErrorCode::kUnsupported, 0, "not a capture of a format that convert reads"}
             : Error{ErrorCode::kUnsupported, kNoOffset, name};
}

}  // namespace stackpack::app
