#include "arrow/arrow_column.h"

#include <algorithm>
#include <array>
#include <utility>

namespace stackpack::arrow {

namespace {

constexpr std::size_t kFirstRoom = 1024;

// What an array of ours holds until it is released.
struct ArrayMemory {
  Buffer values;
  Buffer bytes;
  std::vector<std::uint8_t> validity;
  std::vector<std::uint8_t> bits;
  std::shared_ptr<const Dictionary> dictionary;
  ArrowArray dictionary_array{};
  std::array<const void*, 3> buffers{};
};

void release_array(ArrowArray* array) {
  const std::unique_ptr<ArrayMemory> memory(static_cast<ArrayMemory*>(array->private_data));
  if (array->dictionary != nullptr && array->dictionary->release != nullptr) {
    array->dictionary->release(array->dictionary);
  }
  array->release = nullptr;
}

// A null pointer for a buffer means that there is none; texts without a byte have one.
const void* pointer_to(const Buffer& buffer) {
  static constexpr std::uint64_t kNothing = 0;
  return buffer.data() == nullptr ? static_cast<const void*>(&kNothing) : buffer.data();
}

void move_texts(std::shared_ptr<const Dictionary> dictionary, ArrowArray* out) {
  auto memory = std::make_unique<ArrayMemory>();
  memory->buffers = {nullptr, pointer_to(dictionary->ends), pointer_to(dictionary->bytes)};
  *out = {};
  out->length = dictionary->size;
  out->n_buffers = 3;
  memory->dictionary = std::move(dictionary);
  out->buffers = memory->buffers.data();
  out->release = release_array;
  out->private_data = memory.release();
}

}  // namespace

void Buffer::grow(std::size_t count) {
  const std::size_t room = std::max({kFirstRoom, capacity_ * 2, size_ + count});
  auto bytes = std::unique_ptr<std::byte[]>(new std::byte[room]);
  if (size_ != 0) {
    std::memcpy(bytes.get(), bytes_.get(), size_);
  }
  bytes_ = std::move(bytes);
  capacity_ = room;
}

void Dictionary::add(std::string_view text) {
  if (!text.empty()) {
    std::memcpy(bytes.extend(text.size()), text.data(), text.size());
  }
  ends.append(static_cast<std::int32_t>(bytes.size()));
  ++size;
}

void Column::mark_valid(std::size_t begin) {
  validity_.resize((rows_ + 7) / 8, 0xFF);
  if (begin % 8 != 0 && begin / 8 < validity_.size()) {
    validity_[begin / 8] = static_cast<std::uint8_t>(validity_[begin / 8] | (0xFFU << (begin % 8)));
  }
}

void Column::clear_bit(std::size_t row) {
  validity_[row / 8] = static_cast<std::uint8_t>(validity_[row / 8] & ~(1U << (row % 8)));
  ++nulls_;
}

void Column::add_row(bool valid) {
  const std::size_t row = rows_++;
  if (!valid || !validity_.empty()) {
    mark_valid(row);
  }
  if (!valid) {
    clear_bit(row);
  }
}

void Column::add_number(std::uint64_t value) {
  switch (type_) {
    case ColumnType::kUInt8:
      values_.append(static_cast<std::uint8_t>(value));
      break;
    case ColumnType::kUInt32:
    case ColumnType::kDictionary:
      values_.append(static_cast<std::uint32_t>(value));
      break;
    default:
      values_.append(value);
  }
  add_row(true);
}

void Column::add_bool(bool value) {
  if (rows_ % 8 == 0) {
    bits_.push_back(0);
  }
  bits_.back() = static_cast<std::uint8_t>(bits_.back() | (value ? 1U << (rows_ % 8) : 0U));
  add_row(true);
}

void Column::add_text(std::string_view text) {
  if (type_ == ColumnType::kDictionary) {
    const std::size_t known = texts_.size();
    const std::uint32_t number = texts_.intern(text);
    text_bytes_ += number == known ? text.size() : 0;
    add_number(number);
    return;
  }
  if (!text.empty()) {
    std::memcpy(bytes_.extend(text.size()), text.data(), text.size());
  }
  text_bytes_ = bytes_.size();
  values_.append(static_cast<std::int32_t>(bytes_.size()));
  add_row(true);
}

void Column::add_null() {
  switch (type_) {
    case ColumnType::kBool:
      add_bool(false);
      break;
    case ColumnType::kText:
      add_text({});
      break;
    default:
      add_number(0);
  }
  mark_valid(rows_ - 1);
  clear_bit(rows_ - 1);
}

void Column::move_to(ArrowArray* out) {
  auto memory = std::make_unique<ArrayMemory>();
  if (type_ == ColumnType::kDictionary) {
    if (dictionary_ == nullptr) {
      auto made = std::make_shared<Dictionary>();
      for (std::uint32_t i = 0; i < texts_.size(); ++i) {
        made->add(texts_.text(i));
      }
      dictionary_ = std::move(made);
    }
    move_texts(dictionary_, &memory->dictionary_array);
  }
  memory->values = std::move(values_);
  memory->bytes = std::move(bytes_);
  memory->validity = std::move(validity_);
  memory->bits = std::move(bits_);
  const bool has_nulls = nulls_ != 0;
  memory->buffers[0] = has_nulls ? memory->validity.data() : nullptr;
  memory->buffers[1] =
      type_ == ColumnType::kBool ? memory->bits.data() : pointer_to(memory->values);
  memory->buffers[2] = pointer_to(memory->bytes);
  *out = {};
  out->length = static_cast<std::int64_t>(rows_);
  out->null_count = static_cast<std::int64_t>(nulls_);
  out->n_buffers = type_ == ColumnType::kText ? 3 : 2;
  out->buffers = memory->buffers.data();
  out->dictionary = type_ == ColumnType::kDictionary ? &memory->dictionary_array : nullptr;
  out->release = release_array;
  out->private_data = memory.release();
}

}  // namespace stackpack::arrow
