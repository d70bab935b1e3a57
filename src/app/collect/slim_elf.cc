#include "app/collect/slim_elf.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "app/collect/elf_parts.h"
#include "app/collect/slim_symbols.h"
#include "bytes/byte_writer.h"
#include "codec/zstd_codec.h"
#include "symbolize/elf_identity.h"
#include "unwind/code_tables.h"
#include "unwind/elf_layout.h"

namespace stackpack::app {

namespace {

using Bytes = std::vector<std::byte>;

// Sizes and numbers of the ELF specification, 64 bits.
constexpr std::uint32_t kProgramBits = 1;
constexpr std::uint32_t kSymbols = 2;
constexpr std::uint32_t kTexts = 3;
constexpr std::uint32_t kNote = 7;
constexpr std::uint64_t kCompressed = 0x800;
constexpr std::size_t kMostSections = 0xFE00;

constexpr std::string_view kFrames = ".eh_frame";
constexpr std::string_view kFramesHeader = ".eh_frame_hdr";
constexpr std::array<std::string_view, 4> kTables = {kFrames, kFramesHeader, ".debug_frame",
                                                     ".zdebug_frame"};
constexpr std::array<std::string_view, 6> kNames = {".symtab", ".symtab_shndx",  ".strtab",
                                                    ".dynsym", ".gnu_debugdata", ".dynstr"};

bool is_one_of(std::string_view name, std::span<const std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// A file of which parts are taken.
struct Input {
  io::ByteSource* file = nullptr;
  ElfParts parts;
};

/// A section of the file that is made.
struct Kept {
  ElfSection header;
  Bytes bytes;
};

void place(std::span<const symbolize::ElfSegment> placed, std::vector<elf::Segment>& segments) {
  for (elf::Segment& segment : segments) {
    const auto known = std::find_if(placed.begin(), placed.end(), [&](const auto& one) {
      return one.address == segment.address && one.memory_bytes == segment.memory_bytes;
    });
    if (known != placed.end()) {
      segment.offset = known->offset;
      segment.file_bytes = known->file_bytes;
    }
  }
}

bool has_symbol_table(const Input& input) {
  return std::any_of(input.parts.sections.begin(), input.parts.sections.end(),
                     [](const ElfSection& s) { return s.type == kSymbols && s.has_bytes(); });
}

class SlimElfMaker {
 public:
  SlimElfMaker(Input base, std::optional<Input> other)
      : base_(std::move(base)), other_(std::move(other)) {}

  Result<SlimElf> run(io::ByteSource& image, std::span<const std::uint8_t> build_id) {
    drop_header_ = header_adds_nothing(image);
    for (const ElfSection& section : base_.parts.sections) {
      kept_.push_back(keep(section));
    }
    if (kept_.empty()) {
      kept_.emplace_back();  // the one that the format wants
    }
    add_sections_of_other();
    add_tables_by_segment(image);
    add_note(build_id);
    if (kept_.size() > kMostSections) {
      return Error{ErrorCode::kUnsupported, kNoOffset, "elf: too many sections"};
    }
    link_tables();
    slim_symbols();
    made_.bytes = write();
    return std::move(made_);
  }

 private:
  static bool header_adds_nothing(io::ByteSource& image) {
    Result<unwind::ElfLayout> layout = unwind::read_elf_layout(image);
    return layout && !layout->eh_frame.bytes.empty() &&
           unwind::CodeTables(std::move(*layout), {}).header_adds_nothing();
  }

  [[nodiscard]] bool is_wanted(std::string_view name) const {
    return is_one_of(name, kNames) ||
           (is_one_of(name, kTables) && !(drop_header_ && name == kFramesHeader));
  }

  // The section as it goes into the file: its bytes, of the file that has them, or none.
  Kept keep(const ElfSection& section) {
    Kept kept{section, {}};
    if (is_wanted(section.name)) {
      const ElfSection* from = section.has_bytes() ? &section : nullptr;
      io::ByteSource* file = base_.file;
      if (from == nullptr && other_) {
        const std::uint32_t there = other_->parts.find(section.name);
        from = there == 0 || !other_->parts.sections[there].has_bytes()
                   ? nullptr
                   : &other_->parts.sections[there];
        file = other_->file;
      }
      if (from != nullptr) {
        take(*from, *file, kept);
      }
    }
    if (kept.bytes.empty() && kept.header.type != 0) {
      kept.header.type = elf::kSectionNoBits;
      kept.header.flags &= ~kCompressed;
    }
    return kept;
  }

  void take(const ElfSection& from, io::ByteSource& file, Kept& kept) {
    const std::uint64_t address = kept.header.address;
    kept.bytes = section_bytes(file, from, kMostSectionBytes);
    made_.left_out |= kept.bytes.empty();
    kept.header = from;
    kept.header.address = address;
    const bool is_table = is_one_of(from.name, kTables) && from.name != kFramesHeader;
    made_.has_tables |= is_table && !kept.bytes.empty();
    made_.has_symbols |=
        !kept.bytes.empty() && (is_one_of(from.name, kNames) && from.type != kTexts);
  }

  // What the other file has under names that the first one does not know.
  void add_sections_of_other() {
    if (!other_) {
      return;
    }
    for (const ElfSection& section : other_->parts.sections) {
      if (is_wanted(section.name) && section.has_bytes() && base_.parts.find(section.name) == 0) {
        Kept kept{section, {}};
        take(section, *other_->file, kept);
        if (!kept.bytes.empty()) {
          kept_.push_back(std::move(kept));
        }
      }
    }
  }

  // Of files without headers of sections.
  void add_tables_by_segment(io::ByteSource& image) {
    const auto has = [this](std::string_view name) {
      return std::any_of(kept_.begin(), kept_.end(), [name](const Kept& kept) {
        return kept.header.name == name && !kept.bytes.empty();
      });
    };
    if (has(kFrames)) {
      return;
    }
    Result<unwind::ElfLayout> layout = unwind::read_elf_layout(image);
    if (!layout || layout->eh_frame.bytes.empty()) {
      return;
    }
    made_.has_tables = true;
    add(kFrames, kProgramBits, std::move(layout->eh_frame.bytes), layout->eh_frame.address);
    if (!drop_header_ && !has(kFramesHeader)) {
      add(kFramesHeader, kProgramBits, std::move(layout->eh_frame_header.bytes),
          layout->eh_frame_header.address);
    }
  }

  void add(std::string_view name, std::uint32_t type, Bytes bytes, std::uint64_t address) {
    if (!bytes.empty()) {
      Kept kept;
      kept.header.name = name;
      kept.header.type = type;
      kept.header.address = address;
      kept.header.alignment = 4;
      kept.bytes = std::move(bytes);
      kept_.push_back(std::move(kept));
    }
  }

  void add_note(std::span<const std::uint8_t> build_id) {
    constexpr std::uint32_t kNameBytes = 4;
    constexpr std::uint32_t kIsBuildId = 3;
    bytes::ByteWriter note;
    note.write(kNameBytes);
    note.write(static_cast<std::uint32_t>(build_id.size()));
    note.write(kIsBuildId);
    note.write_text(std::string_view("GNU\0", kNameBytes));
    note.write_bytes(std::as_bytes(build_id));
    note.pad_to_multiple_of(kNameBytes);
    Kept& kept = section_named(".note.gnu.build-id", kNote, kNameBytes);
    kept.bytes = note.take();
  }

  // The section of that name, as if it had been there before: what is made of a file that was made
  // here is that file.
  Kept& section_named(std::string_view name, std::uint32_t type, std::uint64_t alignment) {
    auto place = std::find_if(kept_.begin() + 1, kept_.end(),
                              [name](const Kept& kept) { return kept.header.name == name; });
    if (place == kept_.end()) {
      kept_.emplace_back();
      place = kept_.end() - 1;
      place->header.name = name;
      place->header.alignment = alignment;
    }
    place->header.type = type;
    place->header.flags &= ~kCompressed;
    return *place;
  }

  // Symbol tables refer to the texts beside them, which may have come from the other file.
  void link_tables() {
    constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kLinks = {
        {{".symtab", ".strtab"}, {".dynsym", ".dynstr"}, {".symtab_shndx", ".symtab"}}};
    for (Kept& kept : kept_) {
      for (const auto& [name, linked] : kLinks) {
        if (kept.header.name != name || kept.bytes.empty()) {
          continue;
        }
        for (std::size_t i = 1; i < kept_.size(); ++i) {
          if (kept_[i].header.name == linked && !kept_[i].bytes.empty()) {
            kept.header.link = static_cast<std::uint32_t>(i);
          }
        }
      }
    }
  }

  // Leaves out symbols that name no function. Relocations of an object file refer to them all.
  void slim_symbols() {
    constexpr std::uint16_t kObjectFile = 1;
    const bool extended = std::any_of(kept_.begin(), kept_.end(), [](const Kept& kept) {
      return kept.header.name == ".symtab_shndx" && !kept.bytes.empty();
    });
    for (Kept& kept : kept_) {
      const bool is_table = kept.header.name == ".dynsym" || kept.header.name == ".symtab";
      if (!is_table || base_.parts.type == kObjectFile || extended || kept.header.link == 0 ||
          kept.header.link >= kept_.size()) {
        continue;
      }
      Kept& texts = kept_[kept.header.link];
      if (((kept.header.flags | texts.header.flags) & kCompressed) != 0) {
        continue;
      }
      if (std::optional<SlimSymbols> slim = make_slim_symbols(kept.bytes, texts.bytes)) {
        kept.bytes = std::move(slim->table);
        kept.header.info = slim->locals;
        texts.bytes = std::move(slim->texts);
      }
    }
  }

  // Tables and symbols shrink to a third.
  static void compress(Kept& kept) {
    constexpr std::size_t kWorthIt = 1024;
    constexpr int kLevel = 19;
    constexpr std::uint32_t kZstd = 2;
    if (kept.bytes.size() < kWorthIt || (kept.header.flags & kCompressed) != 0 ||
        kept.header.name == ".gnu_debugdata" || kept.header.name == ".zdebug_frame") {
      return;
    }
    Bytes frame;
    if (!codec::ZstdCompressor(kLevel).compress(kept.bytes, frame)) {
      return;
    }
    bytes::ByteWriter out;
    out.write(kZstd);
    out.write(std::uint32_t{0});
    out.write(std::uint64_t{kept.bytes.size()});
    out.write(kept.header.alignment);
    out.write_bytes(frame);
    if (out.size() < kept.bytes.size()) {
      kept.bytes = out.take();
      kept.header.flags |= kCompressed;
    }
  }

  // Makes the section with the names of all sections. Result: where in it each name is.
  std::vector<std::uint32_t> write_names() {
    constexpr std::string_view kSectionNames = ".shstrtab";
    names_ = static_cast<std::size_t>(&section_named(kSectionNames, kTexts, 1) - kept_.data());
    std::string texts(1, '\0');
    std::vector<std::uint32_t> places;
    places.reserve(kept_.size());
    for (const Kept& kept : kept_) {
      const bool named = !kept.header.name.empty();
      places.push_back(named ? static_cast<std::uint32_t>(texts.size()) : 0);
      texts += kept.header.name;
      texts.append(named ? 1 : 0, '\0');
    }
    const std::span<const std::byte> bytes = std::as_bytes(std::span(texts));
    kept_[names_].bytes.assign(bytes.begin(), bytes.end());
    return places;
  }

  Bytes write() {
    const std::vector<std::uint32_t> name_places = write_names();
    bytes::ByteWriter out;
    const std::uint64_t segments_end =
        kElfFileHeaderBytes + std::uint64_t{kElfSegmentBytes} * base_.parts.segments.size();
    bytes::ByteWriter content;
    for (std::size_t i = 0; i < kept_.size(); ++i) {
      Kept& kept = kept_[i];
      if (i != names_) {
        compress(kept);
      }
      content.pad_to_multiple_of(8);
      if (kept.header.type != 0) {
        kept.header.offset = segments_end + content.size();
      }
      if (!kept.bytes.empty()) {
        kept.header.size = kept.bytes.size();
        content.write_bytes(kept.bytes);
        kept.bytes = {};
      }
    }
    content.pad_to_multiple_of(8);
    write_headers(segments_end + content.size(), out);
    out.write_bytes(content.bytes());
    write_section_table(name_places, out);
    return out.take();
  }

  void write_headers(std::uint64_t sections_at, bytes::ByteWriter& out) const {
    out.write(std::uint32_t{0x464C'457F});
    out.write(std::uint32_t{0x0001'0102});  // 64 bits, little-endian, version 1
    out.write(std::uint64_t{0});
    out.write(base_.parts.type);
    out.write(base_.parts.machine);
    out.write(std::uint32_t{1});
    out.write(base_.parts.entry);
    out.write(std::uint64_t{base_.parts.segments.empty() ? 0U : kElfFileHeaderBytes});
    out.write(sections_at);
    out.write(base_.parts.flags);
    out.write(kElfFileHeaderBytes);
    out.write(kElfSegmentBytes);
    out.write(static_cast<std::uint16_t>(base_.parts.segments.size()));
    out.write(kElfSectionBytes);
    out.write(static_cast<std::uint16_t>(kept_.size()));
    out.write(static_cast<std::uint16_t>(names_));
    for (const elf::Segment& segment : base_.parts.segments) {
      out.write(std::uint32_t{1});
      out.write(segment.flags);
      out.write(segment.offset);
      out.write(segment.address);
      out.write(segment.address);
      out.write(segment.file_bytes);  // in the image: none of it is in here
      out.write(segment.memory_bytes);
      out.write(segment.alignment);
    }
  }

  void write_section_table(std::span<const std::uint32_t> names, bytes::ByteWriter& out) const {
    for (std::size_t i = 0; i < kept_.size(); ++i) {
      const ElfSection& header = kept_[i].header;
      out.write(names[i]);
      out.write(header.type);
      out.write(header.flags);
      out.write(header.address);
      out.write(header.offset);
      out.write(header.size);
      out.write(header.link);
      out.write(header.info);
      out.write(header.alignment);
      out.write(header.entry_bytes);
    }
  }

  Input base_;
  std::optional<Input> other_;
  bool drop_header_ = false;
  std::vector<Kept> kept_;
  std::size_t names_ = 0;  // the section with names of sections
  SlimElf made_;
};

}  // namespace

Result<SlimElf> make_slim_elf(io::ByteSource* image, io::ByteSource* debug,
                              std::span<const std::uint8_t> build_id,
                              std::span<const symbolize::ElfSegment> placed) {
  std::vector<Input> inputs;
  for (io::ByteSource* const file : {image, debug}) {
    if (file != nullptr) {
      Result<ElfParts> parts = read_elf_parts(*file);
      if (!parts) {
        return parts.error();
      }
      inputs.push_back({file, std::move(*parts)});
    }
  }
  if (inputs.empty()) {
    return Error{ErrorCode::kUnsupported, kNoOffset, "elf: no file"};
  }
  io::ByteSource& tables = *inputs[0].file;  // of the image, where there is one
  // Numbers of sections are those of the file whose symbols refer to them.
  if (inputs.size() == 2 && !has_symbol_table(inputs[0]) && has_symbol_table(inputs[1])) {
    inputs[1].parts.segments = inputs[0].parts.segments;
    inputs[1].parts.entry = inputs[0].parts.entry;
    std::swap(inputs[0], inputs[1]);
  }
  place(placed, inputs[0].parts.segments);
  std::optional<Input> other;
  if (inputs.size() == 2) {
    other = std::move(inputs[1]);
  }
  return SlimElfMaker(std::move(inputs[0]), std::move(other)).run(tables, build_id);
}

}  // namespace stackpack::app
