#include "symbolize/symbol_bundle.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>
#include <utility>

#include "bytes/byte_cursor.h"
#include "bytes/byte_text.h"
#include "io/memory_file.h"
#include "symbolize/elf_identity.h"

namespace stackpack::symbolize {

namespace {

constexpr std::string_view kFolder = ".build-id/";
constexpr std::string_view kEnding = ".debug";

// The build id in the name of an entry; empty: it is no such name.
std::vector<std::uint8_t> build_id_of(std::string_view name) {
  constexpr std::size_t kSlash = kFolder.size() + 2;
  constexpr int kHex = 16;
  if (!name.starts_with(kFolder) || !name.ends_with(kEnding) ||
      name.size() < kSlash + 1 + kEnding.size() || name[kSlash] != '/') {
    return {};
  }
  std::string digits(name.substr(kFolder.size(), 2));
  digits += name.substr(kSlash + 1, name.size() - kSlash - 1 - kEnding.size());
  if (digits.size() < 4 || digits.size() % 2 != 0 ||
      digits.find_first_not_of("0123456789abcdef") != std::string::npos) {
    return {};
  }
  std::vector<std::uint8_t> id(digits.size() / 2);
  for (std::size_t i = 0; i < id.size(); ++i) {
    std::from_chars(digits.data() + 2 * i, digits.data() + 2 * i + 2, id[i], kHex);
  }
  return id;
}

}  // namespace

std::string bundle_entry_name(std::span<const std::uint8_t> build_id) {
  std::string name(kFolder);
  for (std::size_t i = 0; i < build_id.size(); ++i) {
    name += i == 1 ? "/" : "";
    bytes::append_hex(name, build_id[i], 2);
  }
  return name + std::string(kEnding);
}

bool SymbolBundle::looks_like_bundle(std::span<const std::byte> head) {
  constexpr std::uint32_t kEmptyArchive = 0x0605'4B50;
  return codec::ZipArchive::looks_like_zip(head) ||
         bytes::ByteCursor(head, 0).read<std::uint32_t>() == kEmptyArchive;
}

Result<std::shared_ptr<SymbolBundle>> SymbolBundle::open(const std::string& path) {
  Result<std::unique_ptr<io::ByteSource>> source = io::open_regular_file(path);
  if (!source) {
    return source.error();
  }
  return open(std::move(*source), path);
}

Result<std::shared_ptr<SymbolBundle>> SymbolBundle::open(std::unique_ptr<io::ByteSource> source,
                                                         const std::string& path) {
  std::array<std::byte, 4> head{};
  const Result<std::size_t> read = source->read_at(0, head);
  if (!read) {
    return read.error();
  }
  if (!looks_like_bundle(head)) {
    return Error{ErrorCode::kUnsupported, 0,
                 "bundle: neither a folder nor an archive that stackpack collect made"};
  }
  Result<std::unique_ptr<codec::ZipArchive>> archive = codec::ZipArchive::open(*source);
  if (!archive) {
    return archive.error();
  }
  std::shared_ptr<SymbolBundle> bundle(new SymbolBundle);
  bundle->path_ = path;
  bundle->source_ = std::move(source);
  bundle->archive_ = std::move(*archive);
  const codec::ZipArchive::Members& members = bundle->archive_->members();
  if (members.size() > kMostEntries) {
    return Error{ErrorCode::kLimit, kNoOffset, "bundle: more entries than a bundle may have"};
  }
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (!build_id_of(members[i].name).empty()) {
      bundle->entries_.try_emplace(members[i].name, Entry{i});
    }
  }
  if (bundle->entries_.empty() && !members.empty()) {
    return Error{ErrorCode::kUnsupported, kNoOffset,
                 "bundle: an archive without entries as stackpack collect makes them"};
  }
  return bundle;
}

std::vector<std::vector<std::uint8_t>> SymbolBundle::build_ids() const {
  std::vector<std::vector<std::uint8_t>> ids;
  ids.reserve(entries_.size());
  for (const auto& [name, entry] : entries_) {
    ids.push_back(build_id_of(name));
  }
  return ids;
}

io::Descriptor SymbolBundle::open_entry(std::size_t member,
                                        std::span<const std::uint8_t> build_id) {
  const Result<std::vector<std::byte>> content = archive_->read(member, kMostEntryBytes);
  if (!content) {
    return {};
  }
  const auto source = io::source_of_memory(*content);
  const Result<ElfIdentity> elf = read_elf_identity(*source);
  // Debug information could name further files, which nobody here asked for.
  const bool has_more =
      elf && (elf->has_dwarf || elf->has_split || !elf->alternate_link.empty() || elf->has_code);
  if (!elf || has_more ||
      !std::equal(build_id.begin(), build_id.end(), elf->build_id.begin(), elf->build_id.end())) {
    return {};
  }
  Result<io::Descriptor> file = io::make_memory_file(*content);
  return file ? std::move(*file) : io::Descriptor();
}

io::Descriptor SymbolBundle::find(std::span<const std::uint8_t> build_id) {
  const auto entry =
      build_id.size() < 2 ? entries_.end() : entries_.find(bundle_entry_name(build_id));
  if (entry == entries_.end() || entry->second.refused) {
    return {};
  }
  io::Descriptor file = open_entry(entry->second.member, build_id);
  if (!file) {
    entry->second.refused = true;
    ++refused_;
  }
  return file;
}

}  // namespace stackpack::symbolize
