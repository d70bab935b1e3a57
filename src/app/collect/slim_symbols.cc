#include "app/collect/slim_symbols.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <tuple>
#include <unordered_map>

#include "bytes/byte_cursor.h"
#include "bytes/byte_writer.h"
#include "core/sort_rows.h"

namespace stackpack::app {

namespace {

// Numbers of the ELF specification.
constexpr std::size_t kEntryBytes = 24;
constexpr std::uint8_t kFunction = 2;
constexpr std::uint8_t kIndirectFunction = 10;
constexpr std::array<std::string_view, 3> kKernelPlaces = {"_stext", "_text", "_kernel_start"};

struct Entry {
  std::string_view name;
  std::uint64_t value = 0;
  std::uint64_t size = 0;
  std::uint16_t section = 0;
  std::uint8_t info = 0;
  std::uint8_t other = 0;

  [[nodiscard]] bool is_local() const { return info >> 4 == 0; }
  [[nodiscard]] bool is_wanted() const {
    const auto type = static_cast<std::uint8_t>(info & 0xFU);
    return section != 0 &&
           (type == kFunction || type == kIndirectFunction ||
            std::find(kKernelPlaces.begin(), kKernelPlaces.end(), name) != kKernelPlaces.end());
  }
};

// All entries but the empty one at the beginning.
std::optional<std::vector<Entry>> entries_of(std::span<const std::byte> table,
                                             std::span<const std::byte> texts) {
  if (table.size() < kEntryBytes || table.size() % kEntryBytes != 0 || texts.empty() ||
      texts.back() != std::byte{0}) {
    return std::nullopt;
  }
  std::vector<Entry> entries;
  entries.reserve(table.size() / kEntryBytes - 1);
  bytes::ByteCursor in(table.subspan(kEntryBytes), 0);
  while (in.remaining() != 0) {
    Entry entry;
    bytes::ByteCursor text(texts, 0);
    text.seek(in.read<std::uint32_t>());
    entry.name = text.read_c_string();
    entry.info = in.read<std::uint8_t>();
    entry.other = in.read<std::uint8_t>();
    entry.section = in.read<std::uint16_t>();
    entry.value = in.read<std::uint64_t>();
    entry.size = in.read<std::uint64_t>();
    if (!text.ok()) {
      return std::nullopt;
    }
    entries.push_back(entry);
  }
  return entries;
}

}  // namespace

std::optional<SlimSymbols> make_slim_symbols(std::span<const std::byte> table,
                                             std::span<const std::byte> texts) {
  std::optional<std::vector<Entry>> entries = entries_of(table, texts);
  if (!entries) {
    return std::nullopt;
  }
  std::erase_if(*entries, [](const Entry& entry) { return !entry.is_wanted(); });
  core::sort_rows(*entries, [](const Entry& a, const Entry& b) {
    return std::tuple(!a.is_local(), a.value) < std::tuple(!b.is_local(), b.value);
  });
  SlimSymbols slim;
  bytes::ByteWriter rows;
  bytes::ByteWriter names;
  rows.write(std::uint64_t{0});
  rows.write(std::uint64_t{0});
  rows.write(std::uint64_t{0});
  names.write(std::uint8_t{0});
  std::unordered_map<std::string_view, std::uint32_t> places{{"", 0}};
  for (const Entry& entry : *entries) {
    const auto [place, fresh] =
        places.try_emplace(entry.name, static_cast<std::uint32_t>(names.size()));
    if (fresh) {
      names.write_text(entry.name);
      names.write(std::uint8_t{0});
    }
    rows.write(place->second);
    rows.write(entry.info);
    rows.write(entry.other);
    rows.write(entry.section);
    rows.write(entry.value);
    rows.write(entry.size);
    slim.locals += entry.is_local() ? 1U : 0U;
  }
  ++slim.locals;  // the empty one
  slim.table = rows.take();
  slim.texts = names.take();
  return slim;
}

}  // namespace stackpack::app
