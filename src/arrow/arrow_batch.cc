#include "arrow/arrow_batch.h"

#include <algorithm>
#include <memory>

namespace stackpack::arrow {

namespace {

constexpr std::size_t kMostTextBytes = std::size_t{16} << 20;

// What the array of a batch holds until it is released.
struct BatchMemory {
  std::vector<ArrowArray> children;
  std::vector<ArrowArray*> pointers;
  const void* validity = nullptr;
};

void release_children(BatchMemory& memory) {
  for (ArrowArray& child : memory.children) {
    if (child.release != nullptr) {
      child.release(&child);
    }
  }
}

void release_batch(ArrowArray* array) {
  const std::unique_ptr<BatchMemory> memory(static_cast<BatchMemory*>(array->private_data));
  release_children(*memory);
  array->release = nullptr;
}

}  // namespace

Result<Projection> Projection::create(std::span<const Field> fields,
                                      std::span<const std::string> names) {
  Projection projection;
  projection.places_.assign(fields.size(), kUnwanted);
  if (names.empty()) {
    projection.fields_.assign(fields.begin(), fields.end());
    for (std::size_t i = 0; i < fields.size(); ++i) {
      projection.places_[i] = i;
    }
    return projection;
  }
  for (const std::string& name : names) {
    const auto field = std::find_if(fields.begin(), fields.end(),
                                    [&name](const Field& known) { return known.name == name; });
    if (field == fields.end()) {
      return Error{ErrorCode::kUsage, kNoOffset, "the table has no column of that name"};
    }
    std::size_t& place = projection.places_[static_cast<std::size_t>(field - fields.begin())];
    if (place != kUnwanted) {
      return Error{ErrorCode::kUsage, kNoOffset, "a column is named twice"};
    }
    place = projection.fields_.size();
    projection.fields_.push_back(*field);
  }
  return projection;
}

Batch::Batch(const Projection& projection) : projection_(projection) {
  columns_.reserve(projection.fields().size());
  for (const Field& field : projection.fields()) {
    columns_.emplace_back(field.type);
  }
}

void Batch::put_number(std::size_t field, std::uint64_t value) {
  if (wants(field)) {
    column(field).add_number(value);
  }
}

void Batch::put_number(std::size_t field, std::uint64_t value, std::uint64_t null) {
  if (value == null) {
    put_null(field);
  } else {
    put_number(field, value);
  }
}

void Batch::put_bool(std::size_t field, bool value) {
  if (wants(field)) {
    column(field).add_bool(value);
  }
}

void Batch::put_text(std::size_t field, std::string_view text) {
  if (wants(field)) {
    column(field).add_text(text);
  }
}

void Batch::put_text_or_null(std::size_t field, std::string_view text) {
  if (text.empty()) {
    put_null(field);
  } else {
    put_text(field, text);
  }
}

void Batch::put_null(std::size_t field) {
  if (wants(field)) {
    column(field).add_null();
  }
}

bool Batch::full(std::size_t most_rows) const {
  return rows_ >= most_rows || std::any_of(columns_.begin(), columns_.end(), [](const Column& c) {
           return c.text_bytes() >= kMostTextBytes;
         });
}

void Batch::move_to(ArrowArray* out) {
  auto memory = std::make_unique<BatchMemory>();
  memory->children.resize(columns_.size());
  memory->pointers.reserve(columns_.size());
  try {
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      columns_[i].move_to(&memory->children[i]);
      memory->pointers.push_back(&memory->children[i]);
    }
  } catch (...) {
    release_children(*memory);
    throw;
  }
  *out = {};
  out->length = static_cast<std::int64_t>(rows_);
  out->n_buffers = 1;
  out->buffers = &memory->validity;
  out->n_children = static_cast<std::int64_t>(columns_.size());
  out->children = memory->pointers.data();
  out->release = release_batch;
  out->private_data = memory.release();
}

}  // namespace stackpack::arrow
