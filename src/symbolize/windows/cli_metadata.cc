#include "symbolize/windows/cli_metadata.h"

#include <algorithm>

namespace stackpack::symbolize {

namespace {

constexpr std::uint32_t kMetadataSignature = 0x424A5342;
constexpr std::size_t kMostNameBytes = 4096;
constexpr unsigned kMostNesting = 64;

// Columns of tables: what a byte stands for. kIndex and a table: a row of it; kCoded and a number:
// a row of one of several.
enum ColumnCodes : std::uint8_t {
  kEnd = 0,
  kTwo = 1,
  kFour = 2,
  kText = 3,
  kGuid = 4,
  kBlob = 5,
  kCoded = 0x40,
  kIndex = 0x80,
};

constexpr std::uint8_t index_of(std::uint8_t table) {
  return static_cast<std::uint8_t>(kIndex | table);
}
constexpr std::uint8_t coded(std::uint8_t number) {
  return static_cast<std::uint8_t>(kCoded | number);
}

enum CodedIndexes : std::uint8_t {
  kTypeDefOrRef,
  kHasConstant,
  kHasAttribute,
  kHasMarshal,
  kHasSecurity,
  kMemberParent,
  kHasSemantics,
  kMethodDefOrRef,
  kMemberForwarded,
  kImplementation,
  kAttributeType,
  kResolutionScope,
  kCodedCount
};

struct CodedIndex {
  unsigned bits;
  std::array<std::uint8_t, 22> tables;
  std::size_t count;
};

constexpr std::array<CodedIndex, kCodedCount> kCodedIndexes{{
    {2, {0x02, 0x01, 0x1B}, 3},
    {2, {0x04, 0x08, 0x17}, 3},
    {5,
     {0x06, 0x04, 0x01, 0x02, 0x08, 0x09, 0x0A, 0x00, 0x0E, 0x17, 0x14,
      0x11, 0x1A, 0x1B, 0x20, 0x23, 0x26, 0x27, 0x28, 0x2A, 0x2C, 0x2B},
     22},
    {1, {0x04, 0x08}, 2},
    {2, {0x02, 0x06, 0x20}, 3},
    {3, {0x02, 0x01, 0x1A, 0x06, 0x1B}, 5},
    {1, {0x14, 0x17}, 2},
    {1, {0x06, 0x0A}, 2},
    {1, {0x04, 0x06}, 2},
    {2, {0x26, 0x23, 0x27}, 3},
    {3, {0x06, 0x0A}, 2},
    {2, {0x00, 0x1A, 0x23, 0x01}, 4},
}};

constexpr std::size_t kKnownTables = 0x2A;
using Columns = std::array<std::uint8_t, 10>;

// By the number of the table; what comes after NestedClass has no names of types and methods.
constexpr std::array<Columns, kKnownTables> kColumns{{
    {kTwo, kText, kGuid, kGuid, kGuid},                                           // Module
    {coded(kResolutionScope), kText, kText},                                      // TypeRef
    {kFour, kText, kText, coded(kTypeDefOrRef), index_of(0x04), index_of(0x06)},  // TypeDef
    {index_of(0x04)},                                                             // FieldPtr
    {kTwo, kText, kBlob},                                                         // Field
    {index_of(0x06)},                                                             // MethodPtr
    {kFour, kTwo, kTwo, kText, kBlob, index_of(0x08)},                            // MethodDef
    {index_of(0x08)},                                                             // ParamPtr
    {kTwo, kTwo, kText},                                                          // Param
    {index_of(0x02), coded(kTypeDefOrRef)},                                       // InterfaceImpl
    {coded(kMemberParent), kText, kBlob},                                         // MemberRef
    {kTwo, coded(kHasConstant), kBlob},                                           // Constant
    {coded(kHasAttribute), coded(kAttributeType), kBlob},                         // CustomAttribute
    {coded(kHasMarshal), kBlob},                                                  // FieldMarshal
    {kTwo, coded(kHasSecurity), kBlob},                                           // DeclSecurity
    {kTwo, kFour, index_of(0x02)},                                                // ClassLayout
    {kFour, index_of(0x04)},                                                      // FieldLayout
    {kBlob},                                                                      // StandAloneSig
    {index_of(0x02), index_of(0x14)},                                             // EventMap
    {index_of(0x14)},                                                             // EventPtr
    {kTwo, kText, coded(kTypeDefOrRef)},                                          // Event
    {index_of(0x02), index_of(0x17)},                                             // PropertyMap
    {index_of(0x17)},                                                             // PropertyPtr
    {kTwo, kText, kBlob},                                                         // Property
    {kTwo, index_of(0x06), coded(kHasSemantics)},                                 // MethodSemantics
    {index_of(0x02), coded(kMethodDefOrRef), coded(kMethodDefOrRef)},             // MethodImpl
    {kText},                                                                      // ModuleRef
    {kBlob},                                                                      // TypeSpec
    {kTwo, coded(kMemberForwarded), kText, index_of(0x1A)},                       // ImplMap
    {kFour, index_of(0x04)},                                                      // FieldRVA
    {kFour, kFour},                                                               // EncLog
    {kFour},                                                                      // EncMap
    {kFour, kTwo, kTwo, kTwo, kTwo, kFour, kBlob, kText, kText},                  // Assembly
    {kFour},                                                      // AssemblyProcessor
    {kFour, kFour, kFour},                                        // AssemblyOS
    {kTwo, kTwo, kTwo, kTwo, kFour, kBlob, kText, kText, kBlob},  // AssemblyRef
    {kFour, index_of(0x23)},                                      // ...RefProcessor
    {kFour, kFour, kFour, index_of(0x23)},                        // AssemblyRefOS
    {kFour, kText, kBlob},                                        // File
    {kFour, kFour, kText, kText, coded(kImplementation)},         // ExportedType
    {kFour, kFour, kText, coded(kImplementation)},                // ManifestResource
    {index_of(0x02), index_of(0x02)},                             // NestedClass
}};

// Columns of those that are read.
constexpr std::size_t kTypeName = 1;
constexpr std::size_t kTypeNamespace = 2;
constexpr std::size_t kTypeMethods = 5;
constexpr std::size_t kMethodName = 3;

constexpr Error kCorruptMetadata{ErrorCode::kCorrupt, kNoOffset, "cli: metadata"};

}  // namespace

Result<CliMetadata> CliMetadata::read(std::vector<std::byte> bytes) {
  CliMetadata metadata;
  metadata.bytes_ = std::move(bytes);
  if (const Status found = metadata.find_streams(); !found) {
    return found.error();
  }
  if (const Status found = metadata.find_tables(); !found) {
    return found.error();
  }
  metadata.find_types();
  return metadata;
}

bytes::ByteCursor CliMetadata::cursor_at(std::uint64_t position) const {
  bytes::ByteCursor in(bytes_, 0);
  in.seek(position);
  return in;
}

Status CliMetadata::find_streams() {
  bytes::ByteCursor in(bytes_, 0);
  if (in.read<std::uint32_t>() != kMetadataSignature) {
    return Error{ErrorCode::kUnsupported, kNoOffset, "cli: no metadata"};
  }
  in.skip(8);  // versions
  in.skip(in.read<std::uint32_t>());
  in.skip(2);  // flags
  const auto count = in.read<std::uint16_t>();
  for (std::uint16_t i = 0; i < count && in.ok(); ++i) {
    Heap heap;
    heap.begin = in.read<std::uint32_t>();
    heap.size = in.read<std::uint32_t>();
    const std::string_view name = in.read_c_string();
    in.skip((4 - (name.size() + 1) % 4) % 4);
    if (heap.begin > bytes_.size() || heap.size > bytes_.size() - heap.begin) {
      return Error(kCorruptMetadata);
    }
    if (name == "#~") {
      table_stream_ = heap;
    } else if (name == "#Strings") {
      strings_ = heap;
    }
  }
  return table_stream_.size != 0 ? Status()
                                 : Status(Error{ErrorCode::kUnsupported, kNoOffset,
                                                "cli: metadata without tables that are read"});
}

Status CliMetadata::find_tables() {
  bytes::ByteCursor in = cursor_at(table_stream_.begin).sub(table_stream_.size);
  in.skip(6);  // reserved, version
  wide_heaps_ = in.read<std::uint8_t>();
  in.skip(1);
  const auto there = in.read<std::uint64_t>();
  in.skip(8);  // which are sorted
  for (std::size_t table = 0; table < kTables; ++table) {
    tables_[table].rows = (there >> table & 1) != 0 ? in.read<std::uint32_t>() : 0;
  }
  for (std::size_t table = 0; table < kKnownTables; ++table) {
    tables_[table].begin = in.offset();
    tables_[table].row_bytes = row_bytes(table);
    in.skip(std::uint64_t{tables_[table].rows} * tables_[table].row_bytes);
  }
  return in.ok() ? Status() : Status(Error(kCorruptMetadata));
}

std::uint32_t CliMetadata::column_bytes(std::uint8_t column) const {
  constexpr std::uint64_t kNarrow = std::uint64_t{1} << 16;
  if ((column & kIndex) != 0) {
    return tables_[column & (kIndex - 1U)].rows < kNarrow ? 2 : 4;
  }
  if ((column & kCoded) != 0) {
    const CodedIndex& index = kCodedIndexes[column & (kCoded - 1U)];
    std::uint64_t rows = 0;
    for (std::size_t i = 0; i < index.count; ++i) {
      rows = std::max<std::uint64_t>(rows, tables_[index.tables[i]].rows);
    }
    return rows < kNarrow >> index.bits ? 2 : 4;
  }
  if (column == kTwo || column == kFour) {
    return column == kTwo ? 2 : 4;
  }
  return (wide_heaps_ >> (column - kText) & 1) != 0 ? 4 : 2;
}

std::uint32_t CliMetadata::row_bytes(std::size_t table) const {
  std::uint32_t bytes = 0;
  for (const std::uint8_t column : kColumns[table]) {
    bytes += column == kEnd ? 0 : column_bytes(column);
  }
  return bytes;
}

// Of a row that is there, from 1 on.
std::uint32_t CliMetadata::cell(std::size_t table, std::uint32_t row, std::size_t column) const {
  const Table& rows = tables_[table];
  std::uint64_t at = rows.begin + std::uint64_t{row - 1} * rows.row_bytes;
  for (std::size_t before = 0; before < column; ++before) {
    at += column_bytes(kColumns[table][before]);
  }
  bytes::ByteCursor in = cursor_at(at);
  return column_bytes(kColumns[table][column]) == 2 ? in.read<std::uint16_t>()
                                                    : in.read<std::uint32_t>();
}

void CliMetadata::find_types() {
  first_methods_.reserve(tables_[kTypes].rows);  // no more than there are bytes
  for (std::uint32_t row = 1; row <= tables_[kTypes].rows; ++row) {
    first_methods_.push_back(cell(kTypes, row, kTypeMethods));
  }
  nested_.reserve(tables_[kNestedTypes].rows);
  for (std::uint32_t row = 1; row <= tables_[kNestedTypes].rows; ++row) {
    nested_.emplace_back(cell(kNestedTypes, row, 0), cell(kNestedTypes, row, 1));
  }
  std::sort(nested_.begin(), nested_.end());
}

std::string_view CliMetadata::text(std::uint32_t offset) const {
  bytes::ByteCursor in = cursor_at(strings_.begin).sub(strings_.size);
  in.seek(offset);
  if (!in.ok()) {
    return {};
  }
  // No further: of a damaged heap each text may end at its end.
  bytes::ByteCursor near = in.sub(std::min<std::uint64_t>(in.remaining(), kMostNameBytes + 1));
  const std::string_view text = near.read_c_string();
  return text.size() <= kMostNameBytes ? text : std::string_view();
}

std::string CliMetadata::type_name(std::uint32_t row) const {
  std::string name;
  for (unsigned depth = 0; depth < kMostNesting && row >= 1 && row <= tables_[kTypes].rows;
       ++depth) {
    const std::string_view own = text(cell(kTypes, row, kTypeName));
    name.insert(0, name.empty() ? "" : "+").insert(0, own);
    const auto around = std::lower_bound(nested_.begin(), nested_.end(), std::pair(row, 0U));
    if (around == nested_.end() || around->first != row) {
      const std::string_view space = text(cell(kTypes, row, kTypeNamespace));
      return space.empty() ? name : name.insert(0, ".").insert(0, space);
    }
    row = around->second;
  }
  return {};
}

std::string CliMetadata::method_name(std::uint32_t row) const {
  if (row == 0 || row > method_count()) {
    return {};
  }
  // The last type whose methods begin at or before this one: types without any have the same begin.
  const auto after = std::upper_bound(first_methods_.begin(), first_methods_.end(), row);
  const std::string type =
      after == first_methods_.begin()
          ? std::string()
          : type_name(static_cast<std::uint32_t>(after - first_methods_.begin()));
  const std::string_view name = text(cell(kMethods, row, kMethodName));
  if (type.empty() || name.empty() || type.size() + name.size() > kMostNameBytes) {
    return {};
  }
  return type + "." + std::string(name);
}

}  // namespace stackpack::symbolize
