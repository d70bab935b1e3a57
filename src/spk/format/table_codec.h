// The tables of a file - events, processes, threads, modules, metadata, control groups, ... - as
// blocks of rows, stored column by column:
//
//   varint  rows
//   per field of the table, in the order of docs/format.md:
//     number  column (column_codec.h)
//     time    column of time + 1, so that "unknown" (all bits set) is 0
//     text    column of lengths, then the bytes of all texts
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "bytes/byte_cursor.h"
#include "spk/format/column_codec.h"
#include "spk/format/source_rows.h"
#include "stackpack/model.h"
#include "stackpack/reader.h"
#include "stackpack/result.h"

namespace stackpack::spk {

/// What file a module is mapped from: Module::file.
struct ModuleFile {
  std::uint32_t module = 0;  ///< its row
  std::uint32_t device_major = 0;
  std::uint32_t device_minor = 0;
  std::uint64_t inode = 0;
  std::uint64_t generation = 0;
};

/// The rows of module_files: of modules that have a file and no build id.
std::vector<ModuleFile> files_of(std::span<const Module> modules);

// Append one block. At most kRowsPerTableBlock rows (counts of stacks: kStackCountsPerBlock).
void encode_rows(std::span<const Event> rows, BlockContent& content);
void encode_rows(std::span<const Process> rows, BlockContent& content);
void encode_rows(std::span<const Thread> rows, BlockContent& content);
void encode_rows(std::span<const Module> rows, BlockContent& content);
void encode_rows(std::span<const MetadataEntry> rows, BlockContent& content);
void encode_rows(std::span<const StackCount> rows, BlockContent& content);
void encode_rows(std::span<const SourceRow> rows, BlockContent& content);
void encode_rows(std::span<const ControlGroup> rows, BlockContent& content);
void encode_rows(std::span<const ModuleFile> rows, BlockContent& content);

// Append the rows of one block to `rows`. Errors: kCorrupt.
Status decode_rows(bytes::ByteCursor in, std::vector<Event>& rows);
Status decode_rows(bytes::ByteCursor in, std::vector<Process>& rows);
Status decode_rows(bytes::ByteCursor in, std::vector<Thread>& rows);
Status decode_rows(bytes::ByteCursor in, std::vector<Module>& rows);
Status decode_rows(bytes::ByteCursor in, std::vector<MetadataEntry>& rows);
Status decode_rows(bytes::ByteCursor in, std::vector<StackCount>& rows);
Status decode_rows(bytes::ByteCursor in, std::vector<SourceRow>& rows);
Status decode_rows(bytes::ByteCursor in, std::vector<ControlGroup>& rows);
Status decode_rows(bytes::ByteCursor in, std::vector<ModuleFile>& rows);

/// Bytes of the texts of a row: what makes it large.
std::size_t text_bytes(const Event& row);
std::size_t text_bytes(const Process& row);
std::size_t text_bytes(const Thread& row);
std::size_t text_bytes(const Module& row);
std::size_t text_bytes(const MetadataEntry& row);
std::size_t text_bytes(const SourceRow& row);
std::size_t text_bytes(const ControlGroup& row);
std::size_t text_bytes(const ModuleFile& row);

}  // namespace stackpack::spk
