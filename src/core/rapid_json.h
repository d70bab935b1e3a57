// RapidJSON as everything here uses it: its memory, what it reads with, and what it writes to.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <new>
#include <string>

#include <rapidjson/document.h>
#include <rapidjson/reader.h>
#include <rapidjson/writer.h>

namespace stackpack::core {

/// Memory for RapidJSON, whose own allocator does not look at what malloc() says: here memory that
/// runs out is std::bad_alloc, as everywhere.
class ThrowingAllocator {
 public:
  // NOLINTBEGIN(readability-identifier-naming): names which RapidJSON asks for
  static constexpr bool kNeedFree = true;

  void* Malloc(std::size_t size) { return size != 0 ? ::operator new(size) : nullptr; }

  void* Realloc(void* block, std::size_t old_size, std::size_t new_size) {
    void* const fresh = Malloc(new_size);
    if (block != nullptr && fresh != nullptr) {
      std::memcpy(fresh, block, std::min(old_size, new_size));
    }
    Free(block);
    return fresh;
  }

  static void Free(void* block) noexcept { ::operator delete(block); }
  // NOLINTEND(readability-identifier-naming)

  bool operator==(const ThrowingAllocator& /*other*/) const { return true; }
  bool operator!=(const ThrowingAllocator& /*other*/) const { return false; }
};

/// Reads a text event by event: memory does not grow with it.
using JsonReader =
    rapidjson::GenericReader<rapidjson::UTF8<>, rapidjson::UTF8<>, ThrowingAllocator>;

/// Small texts as a whole.
using JsonPool = rapidjson::MemoryPoolAllocator<ThrowingAllocator>;
using JsonValue = rapidjson::GenericValue<rapidjson::UTF8<>, JsonPool>;
using JsonDocument = rapidjson::GenericDocument<rapidjson::UTF8<>, JsonPool, ThrowingAllocator>;

/// Writes value by value to a stream, such as JsonTextStream.
template <typename Stream>
using JsonWriter =
    rapidjson::Writer<Stream, rapidjson::UTF8<>, rapidjson::UTF8<>, ThrowingAllocator>;

/// The end of a text.
class JsonTextStream {
 public:
  using Ch = char;
  explicit JsonTextStream(std::string& text) : text_(text) {}
  // NOLINTBEGIN(readability-identifier-naming): names which RapidJSON asks for
  void Put(Ch letter) { text_.push_back(letter); }
  void Flush() {}
  // NOLINTEND(readability-identifier-naming)

 private:
  std::string& text_;
};

}  // namespace stackpack::core
