#include "arrow/arrow_schema.h"

#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

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

}  // namespace

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

}  // namespace stackpack::arrow
