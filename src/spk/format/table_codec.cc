#include "spk/format/table_codec.h"

#include <concepts>
#include <string>
#include <string_view>
#include <type_traits>

#include "spk/format/layout.h"

namespace stackpack::spk {

namespace {

// Each table is described once, by a function that names its fields in order; a RowWriter or a
// RowReader walks it. A field is a pointer to a member.

template <typename Visitor>
void visit_fields(Visitor& visit, const Event* /*table*/) {
  visit.text(&Event::name);
  visit.number(&Event::has_weight, 1);
}

constexpr std::uint64_t kMax64 = ~std::uint64_t{0};

template <typename Visitor>
void visit_fields(Visitor& visit, const Process* /*table*/) {
  visit.number(&Process::pid, kMax32);
  visit.number(&Process::parent_pid, kMax32);
  visit.time(&Process::start_ns);
  visit.time(&Process::end_ns);
  visit.number(&Process::inherits_mappings, 1);
  visit.text(&Process::name);
  visit.text(&Process::command_line);
}

template <typename Visitor>
void visit_fields(Visitor& visit, const Thread* /*table*/) {
  visit.number(&Thread::pid, kMax32);
  visit.number(&Thread::tid, kMax32);
  visit.time(&Thread::start_ns);
  visit.time(&Thread::end_ns);
  visit.text(&Thread::name);
}

template <typename Visitor>
void visit_fields(Visitor& visit, const Module* /*table*/) {
  visit.number(&Module::pid, kMax32);
  visit.number(&Module::base, kMax64);
  visit.number(&Module::size, kMax64);
  visit.number(&Module::file_offset, kMax64);
  visit.time(&Module::start_ns);
  visit.time(&Module::end_ns);
  visit.text(&Module::path);
  visit.number(&Module::build_id_kind, static_cast<std::uint64_t>(BuildIdKind::kPdb));
  visit.text(&Module::build_id);
  visit.text(&Module::debug_name);
}

template <typename Visitor>
void visit_fields(Visitor& visit, const MetadataEntry* /*table*/) {
  visit.text(&MetadataEntry::key);
  visit.text(&MetadataEntry::value);
}

template <typename Visitor>
void visit_fields(Visitor& visit, const StackCount* /*table*/) {
  visit.number(&StackCount::stack, kMax32);
  visit.number(&StackCount::event, kMax32);
  visit.number(&StackCount::pid, kMax32);
  visit.number(&StackCount::origin, static_cast<std::uint64_t>(StackOrigin::kRecorded));
  visit.number(&StackCount::samples, kMax64);
  visit.number(&StackCount::weight, kMax64);
}

template <typename Visitor>
void visit_fields(Visitor& visit, const SourceRow* /*table*/) {
  visit.text(&SourceRow::id);
  visit.text(&SourceRow::names_hash);
  visit.number(&SourceRow::functions, kMax64);
  visit.text(&SourceRow::kind);
  visit.number(&SourceRow::bytes, kMax64);
  visit.text(&SourceRow::fingerprint);
  visit.text(&SourceRow::host);
  visit.text(&SourceRow::command_line);
  visit.time(&SourceRow::start_ns);
  visit.number(&SourceRow::knows_wall_time, 1);
  visit.number(&SourceRow::wall_offset, kMax64);
  visit.number(&SourceRow::samples, kMax64);
  visit.number(&SourceRow::records, kMax64);
  visit.number(&SourceRow::empty_chains, kMax64);
  visit.number(&SourceRow::stack_dump_only, kMax64);
  visit.number(&SourceRow::unwound, kMax64);
  visit.number(&SourceRow::callstacks, kMax64);
  visit.text(&SourceRow::pids);
  visit.text(&SourceRow::losses);
}

template <typename Visitor>
void visit_fields(Visitor& visit, const ControlGroup* /*table*/) {
  visit.number(&ControlGroup::id, kMax64);
  visit.text(&ControlGroup::path);
}

template <typename Visitor>
void visit_fields(Visitor& visit, const ModuleFile* /*table*/) {
  visit.number(&ModuleFile::module, kMax32);
  visit.number(&ModuleFile::device_major, kMax32);
  visit.number(&ModuleFile::device_minor, kMax32);
  visit.number(&ModuleFile::inode, kMax64);
  visit.number(&ModuleFile::generation, kMax64);
}

template <typename Row>
class RowWriter {
 public:
  RowWriter(std::span<const Row> rows, BlockContent& content) : rows_(rows), content_(content) {
    content_.bytes().write_varint(rows_.size());
  }

  template <typename T>
  void number(T Row::*field, std::uint64_t /*limit*/) {
    add_column([field](const Row& row) { return static_cast<std::uint64_t>(row.*field); });
  }
  void time(std::uint64_t Row::*field) {
    add_column([field](const Row& row) { return row.*field + 1; });
  }
  template <typename Text>
  void text(Text Row::*field) {
    add_column([field](const Row& row) { return (row.*field).size(); });
    for (const Row& row : rows_) {
      content_.bytes().write_bytes(std::as_bytes(std::span(row.*field)));
    }
  }

 private:
  template <typename Get>
  void add_column(Get get) {
    column_.clear();
    for (const Row& row : rows_) {
      column_.push_back(get(row));
    }
    write_column(column_, content_);
  }

  std::span<const Row> rows_;
  BlockContent& content_;
  std::vector<std::uint64_t> column_;
};

template <typename Row>
class RowReader {
 public:
  RowReader(bytes::ByteCursor& in, std::span<Row> rows) : in_(in), rows_(rows) {}

  template <typename T>
  void number(T Row::*field, std::uint64_t limit) {
    read_column(in_, rows_.size(), column_);
    for (std::size_t i = 0; in_.ok() && i < rows_.size(); ++i) {
      if (column_[i] > limit) {
        in_.skip(~std::uint64_t{0});  // marks the cursor failed
      }
      rows_[i].*field = static_cast<T>(column_[i]);
    }
  }
  void time(std::uint64_t Row::*field) {
    read_column(in_, rows_.size(), column_);
    for (std::size_t i = 0; in_.ok() && i < rows_.size(); ++i) {
      rows_[i].*field = column_[i] - 1;
    }
  }
  template <typename Text>
  void text(Text Row::*field) {
    read_column(in_, rows_.size(), column_);
    for (std::size_t i = 0; in_.ok() && i < rows_.size(); ++i) {
      Text& text = rows_[i].*field;
      const std::span<const std::byte> bytes = in_.read_bytes(column_[i]);
      text.resize(bytes.size());
      for (std::size_t k = 0; k < bytes.size(); ++k) {
        text[k] = static_cast<typename Text::value_type>(bytes[k]);
      }
    }
  }

 private:
  bytes::ByteCursor& in_;
  std::span<Row> rows_;
  std::vector<std::uint64_t> column_;
};

template <typename Row>
void encode(std::span<const Row> rows, BlockContent& content) {
  RowWriter<Row> writer(rows, content);
  visit_fields(writer, static_cast<const Row*>(nullptr));
}

template <typename Row>
Status decode(bytes::ByteCursor in, std::uint32_t limit, std::vector<Row>& rows) {
  const std::uint64_t count = read_varint(in);
  if (!in.ok() || count == 0 || count > limit) {
    return in.corrupt("spk: table: rows");
  }
  const std::size_t old_size = rows.size();
  rows.resize(old_size + static_cast<std::size_t>(count));
  RowReader<Row> reader(in, std::span(rows).subspan(old_size));
  visit_fields(reader, static_cast<const Row*>(nullptr));
  return in.ok() && in.remaining() == 0 ? Status{} : in.corrupt("spk: table: fields");
}

}  // namespace

std::vector<ModuleFile> files_of(std::span<const Module> modules) {
  std::vector<ModuleFile> rows;
  for (std::size_t i = 0; i < modules.size(); ++i) {
    const MappedFile& file = modules[i].file;
    if (file.inode != 0 && modules[i].build_id_kind == BuildIdKind::kNone) {
      rows.push_back({static_cast<std::uint32_t>(i), file.device_major, file.device_minor,
                      file.inode, file.generation});
    }
  }
  return rows;
}

void encode_rows(std::span<const Event> rows, BlockContent& content) {
  encode(rows, content);
}
void encode_rows(std::span<const Process> rows, BlockContent& content) {
  encode(rows, content);
}
void encode_rows(std::span<const Thread> rows, BlockContent& content) {
  encode(rows, content);
}
void encode_rows(std::span<const Module> rows, BlockContent& content) {
  encode(rows, content);
}
void encode_rows(std::span<const MetadataEntry> rows, BlockContent& content) {
  encode(rows, content);
}
void encode_rows(std::span<const StackCount> rows, BlockContent& content) {
  encode(rows, content);
}
void encode_rows(std::span<const SourceRow> rows, BlockContent& content) {
  encode(rows, content);
}
void encode_rows(std::span<const ControlGroup> rows, BlockContent& content) {
  encode(rows, content);
}
void encode_rows(std::span<const ModuleFile> rows, BlockContent& content) {
  encode(rows, content);
}

Status decode_rows(bytes::ByteCursor in, std::vector<Event>& rows) {
  return decode(in, kRowsPerTableBlock, rows);
}
Status decode_rows(bytes::ByteCursor in, std::vector<Process>& rows) {
  return decode(in, kRowsPerTableBlock, rows);
}
Status decode_rows(bytes::ByteCursor in, std::vector<Thread>& rows) {
  return decode(in, kRowsPerTableBlock, rows);
}
Status decode_rows(bytes::ByteCursor in, std::vector<Module>& rows) {
  return decode(in, kRowsPerTableBlock, rows);
}
Status decode_rows(bytes::ByteCursor in, std::vector<MetadataEntry>& rows) {
  return decode(in, kRowsPerTableBlock, rows);
}
Status decode_rows(bytes::ByteCursor in, std::vector<StackCount>& rows) {
  return decode(in, kStackCountsPerBlock, rows);
}

Status decode_rows(bytes::ByteCursor in, std::vector<SourceRow>& rows) {
  return decode(in, kRowsPerTableBlock, rows);
}

Status decode_rows(bytes::ByteCursor in, std::vector<ControlGroup>& rows) {
  return decode(in, kRowsPerTableBlock, rows);
}

Status decode_rows(bytes::ByteCursor in, std::vector<ModuleFile>& rows) {
  return decode(in, kRowsPerTableBlock, rows);
}

std::size_t text_bytes(const Event& row) {
  return row.name.size();
}
std::size_t text_bytes(const Process& row) {
  return row.name.size() + row.command_line.size();
}
std::size_t text_bytes(const Thread& row) {
  return row.name.size();
}
std::size_t text_bytes(const Module& row) {
  return row.path.size() + row.build_id.size() + row.debug_name.size();
}
std::size_t text_bytes(const MetadataEntry& row) {
  return row.key.size() + row.value.size();
}
std::size_t text_bytes(const ControlGroup& row) {
  return row.path.size();
}
std::size_t text_bytes(const ModuleFile& /*row*/) {
  return 0;
}
std::size_t text_bytes(const SourceRow& row) {
  return row.id.size() + row.names_hash.size() + row.kind.size() + row.fingerprint.size() +
         row.host.size() + row.command_line.size() + row.pids.size() + row.losses.size();
}

}  // namespace stackpack::spk
