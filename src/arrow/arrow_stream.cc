#include "arrow/arrow_stream.h"

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "arrow/arrow_column.h"
#include "core/guard.h"
#include "stackpack/arrow_c_data.h"

namespace stackpack::arrow {

namespace {

// Goes up when a column changes its meaning or its type, or goes.
constexpr std::string_view kSchemaVersion = "1";

// What a schema of ours holds until it is released.
struct SchemaMemory {
  std::string name;
  std::string metadata;
  std::vector<ArrowSchema> children;
  std::vector<ArrowSchema*> pointers;
  ArrowSchema dictionary{};
};

void release_schema(ArrowSchema* schema) {
  const std::unique_ptr<SchemaMemory> memory(static_cast<SchemaMemory*>(schema->private_data));
  for (ArrowSchema& child : memory->children) {
    if (child.release != nullptr) {
      child.release(&child);
    }
  }
  if (schema->dictionary != nullptr && schema->dictionary->release != nullptr) {
    schema->dictionary->release(schema->dictionary);
  }
  schema->release = nullptr;
}

void append_counted(std::string& out, std::string_view text) {
  const auto size = static_cast<std::int32_t>(text.size());
  char bytes[sizeof size];
  std::memcpy(bytes, &size, sizeof size);
  out.append(bytes, sizeof size).append(text);
}

using Pair = std::pair<std::string_view, std::string_view>;

// Numbers in the machine's own order, as Arrow has them.
std::string metadata_of(std::initializer_list<Pair> pairs) {
  const auto count = static_cast<std::int32_t>(pairs.size());
  std::string out(sizeof count, '\0');
  std::memcpy(out.data(), &count, sizeof count);
  for (const Pair& pair : pairs) {
    append_counted(out, pair.first);
    append_counted(out, pair.second);
  }
  return out;
}

const char* format_of(ColumnType type) {
  switch (type) {
    case ColumnType::kBool:
      return "b";
    case ColumnType::kUInt8:
      return "C";
    case ColumnType::kUInt32:
      return "I";
    case ColumnType::kUInt64:
      return "L";
    case ColumnType::kInt64:
      return "l";
    case ColumnType::kDouble:
      return "g";
    case ColumnType::kText:
      return "u";
    case ColumnType::kDictionary:
      return "i";
  }
  return "n";
}

// A schema without children; `format` is static.
void make_column(const char* format, std::string_view name, std::string metadata, bool nullable,
                 ArrowSchema* out) {
  auto memory = std::make_unique<SchemaMemory>();
  memory->name = name;
  memory->metadata = std::move(metadata);
  *out = {};
  out->format = format;
  out->name = memory->name.c_str();
  out->metadata = memory->metadata.empty() ? nullptr : memory->metadata.data();
  out->flags = nullable ? ARROW_FLAG_NULLABLE : 0;
  out->release = release_schema;
  out->private_data = memory.release();
}

void make_field(const Field& field, ArrowSchema* out) {
  std::string metadata = field.unit.empty() ? std::string() : metadata_of({{"unit", field.unit}});
  make_column(format_of(field.type), field.name, std::move(metadata), field.nullable, out);
  if (field.type == ColumnType::kDictionary) {
    auto* const memory = static_cast<SchemaMemory*>(out->private_data);
    make_column("u", "", "", false, &memory->dictionary);
    out->dictionary = &memory->dictionary;
  }
}

// Makes *out the schema of a batch with these columns, which the caller releases. `table` goes
// into its metadata as `stackpack.table`, the version of the columns as `stackpack.schema`. Throws
// std::bad_alloc, *out is not written then.
void make_schema(std::string_view table, std::span<const Field> fields, ArrowSchema* out) {
  ArrowSchema made{};
  make_column("+s", "",
              metadata_of({{"stackpack.table", table}, {"stackpack.schema", kSchemaVersion}}),
              false, &made);
  auto* const memory = static_cast<SchemaMemory*>(made.private_data);
  try {
    memory->children.resize(fields.size());
    memory->pointers.reserve(fields.size());
    for (std::size_t i = 0; i < fields.size(); ++i) {
      make_field(fields[i], &memory->children[i]);
      memory->pointers.push_back(&memory->children[i]);
    }
  } catch (...) {
    made.release(&made);
    throw;
  }
  made.n_children = static_cast<std::int64_t>(fields.size());
  made.children = memory->pointers.data();
  *out = made;
}

// What a stream holds until it is released.
struct StreamMemory {
  BatchSource source;
  bool ended = false;
  Status status;     // once it failed it stays so
  std::string text;  // of the latest failure
};

StreamMemory& memory_of(ArrowArrayStream* stream) {
  return *static_cast<StreamMemory*>(stream->private_data);
}

int errno_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::kUsage:
      return EINVAL;
    case ErrorCode::kResource:
      return ENOMEM;
    default:
      return EIO;
  }
}

int fail(StreamMemory& memory, const Error& error) {
  const Status kept = core::guarded([&]() -> Status {
    memory.text = message(error);
    return {};
  });
  if (!kept) {
    memory.text.clear();
  }
  return errno_of(error.code);
}

int get_schema(ArrowArrayStream* stream, ArrowSchema* out) {
  StreamMemory& memory = memory_of(stream);
  const Status made = core::guarded([&]() -> Status {
    make_schema(memory.source.table, memory.source.projection.fields(), out);
    return {};
  });
  return made ? 0 : fail(memory, made.error());
}

int get_next(ArrowArrayStream* stream, ArrowArray* out) {
  StreamMemory& memory = memory_of(stream);
  out->release = nullptr;
  if (memory.status && !memory.ended) {
    memory.status = core::guarded([&]() -> Status {
      Batch batch(memory.source.projection);
      if (const Status filled = memory.source.next(batch); !filled) {
        return filled;
      }
      memory.ended = batch.rows() == 0;
      if (!memory.ended) {
        batch.move_to(out);
      }
      return {};
    });
  }
  return memory.status ? 0 : fail(memory, memory.status.error());
}

const char* get_last_error(ArrowArrayStream* stream) {
  const StreamMemory& memory = memory_of(stream);
  return memory.text.empty() ? nullptr : memory.text.c_str();
}

void release_stream(ArrowArrayStream* stream) {
  const std::unique_ptr<StreamMemory> memory(&memory_of(stream));
  stream->release = nullptr;
}

}  // namespace

void make_stream(BatchSource source, ArrowArrayStream* out) {
  auto memory = std::make_unique<StreamMemory>(StreamMemory{std::move(source), false, {}, {}});
  out->get_schema = get_schema;
  out->get_next = get_next;
  out->get_last_error = get_last_error;
  out->release = release_stream;
  out->private_data = memory.release();
}

}  // namespace stackpack::arrow
