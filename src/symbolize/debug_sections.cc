#include "symbolize/debug_sections.h"

#include <algorithm>
#include <array>

#include <elf.h>

namespace stackpack::symbolize {

namespace {

constexpr std::size_t kSectionAlignment = 16;

}  // namespace

DebugSections::DebugSections(const Machine& machine) : machine_(machine) {
  bytes_.resize(machine_.is_64_bit ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr));
  names_.push_back('\0');
  sections_.emplace_back();
  keep();
}

std::span<std::byte> DebugSections::add(std::string_view name, std::span<const std::byte> content) {
  bytes_.resize((bytes_.size() + kSectionAlignment - 1) / kSectionAlignment * kSectionAlignment);
  const std::size_t at = bytes_.size();
  sections_.push_back(
      {static_cast<std::uint32_t>(names_.size()), SHT_PROGBITS, at, content.size()});
  names_.insert(names_.end(), name.begin(), name.end());
  names_.push_back('\0');
  bytes_.insert(bytes_.end(), content.begin(), content.end());
  return std::span(bytes_).subspan(at);
}

void DebugSections::keep() {
  kept_bytes_ = bytes_.size();
  kept_names_ = names_.size();
  kept_sections_ = sections_.size();
}

void DebugSections::drop() {
  bytes_.resize(kept_bytes_);
  names_.resize(kept_names_);
  sections_.resize(kept_sections_);
}

void DebugSections::put(std::size_t at, std::size_t width, std::uint64_t value) {
  for (std::size_t i = 0; i < width; ++i) {
    const std::size_t place = machine_.order == bytes::ByteOrder::kLittle ? i : width - 1 - i;
    bytes_[at + place] = static_cast<std::byte>(value >> (8 * i));
  }
}

void DebugSections::append(std::size_t width, std::uint64_t value) {
  const std::size_t at = bytes_.size();
  bytes_.resize(at + width);
  put(at, width, value);
}

void DebugSections::append_section(const Section& section) {
  const std::size_t word = machine_.is_64_bit ? 8 : 4;
  append(4, section.name);
  append(4, section.type);
  append(word, 0);  // flags
  append(word, 0);  // address
  append(word, section.offset);
  append(word, section.size);
  append(4, 0);     // link
  append(4, 0);     // info
  append(word, 1);  // alignment
  append(word, 0);  // bytes of an entry
}

std::span<std::byte> DebugSections::finish() {
  const auto named = static_cast<std::uint32_t>(names_.size());
  constexpr std::string_view kName = ".shstrtab";
  names_.insert(names_.end(), kName.begin(), kName.end());
  names_.push_back('\0');
  sections_.push_back({named, SHT_STRTAB, bytes_.size(), names_.size()});
  const auto names = std::as_bytes(std::span(names_));
  bytes_.insert(bytes_.end(), names.begin(), names.end());
  bytes_.resize((bytes_.size() + kSectionAlignment - 1) / kSectionAlignment * kSectionAlignment);
  const std::size_t sections_at = bytes_.size();
  for (const Section& section : sections_) {
    append_section(section);
  }
  write_header(sections_at);
  return bytes_;
}

void DebugSections::write_header(std::uint64_t sections_at) {
  const std::array<std::uint8_t, 7> ident{
      ELFMAG0,
      ELFMAG1,
      ELFMAG2,
      ELFMAG3,
      static_cast<std::uint8_t>(machine_.is_64_bit ? ELFCLASS64 : ELFCLASS32),
      static_cast<std::uint8_t>(machine_.order == bytes::ByteOrder::kLittle ? ELFDATA2LSB
                                                                            : ELFDATA2MSB),
      EV_CURRENT};
  std::fill_n(bytes_.begin(), EI_NIDENT, std::byte{0});
  for (std::size_t i = 0; i < ident.size(); ++i) {
    put(i, 1, ident[i]);
  }
  const std::size_t word = machine_.is_64_bit ? 8 : 4;
  std::size_t at = EI_NIDENT;
  const auto next = [&](std::size_t width, std::uint64_t value) {
    put(at, width, value);
    at += width;
  };
  next(2, ET_DYN);
  next(2, machine_.number);
  next(4, EV_CURRENT);
  next(word, 0);  // entry
  next(word, 0);  // segments
  next(word, sections_at);
  next(4, 0);  // flags
  next(2, machine_.is_64_bit ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr));
  next(2, 0);  // segments: bytes and number
  next(2, 0);
  next(2, machine_.is_64_bit ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr));
  next(2, sections_.size());
  next(2, sections_.size() - 1);
}

}  // namespace stackpack::symbolize
