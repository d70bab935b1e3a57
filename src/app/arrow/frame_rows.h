#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/arrow/naming_places.h"
#include "core/number_table.h"
#include "core/string_table.h"
#include "query/selection/capture_view.h"
#include "stackpack/symbols.h"
#include "symbols/symbol_index.h"

namespace stackpack::app {

/// A frame as the tables have it: an address, or a function that was inlined at it.
struct FrameRow {
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  Frame frame;
  AddressUse use = AddressUse::kExact;
  bool has_address = true;
  bool inlined = false;
  std::uint32_t module = kNone;    ///< first row of the modules of this image
  std::uint64_t offset = 0;        ///< of the address in it
  std::uint32_t function = kNone;  ///< row of the functions, which has the code
  std::uint64_t function_offset = 0;
  std::uint32_t title = 0;  ///< text: what reports count it under
  // Texts of the names.
  std::string_view name;
  std::string_view linkage;
  std::string_view file;
  std::uint32_t line = 0;
};

/// The distinct frames of a file, numbered in the order of their arrival. The same code at the same
/// address is one, whichever process it is in.
class FrameRows {
 public:
  /// Both must outlive this.
  FrameRows(const query::CaptureView& view, const symbols::SymbolIndex& symbols)
      : view_(view), symbols_(symbols) {}

  /// Appends the numbers of what a frame is in a place, innermost inlined call first: at least one.
  /// New ones are added.
  void add(const symbols::MappingContext& place, const Frame& frame, AddressUse use,
           std::vector<std::uint32_t>& numbers);
  /// The same; false when one of them was never added.
  [[nodiscard]] bool find(const symbols::MappingContext& place, const Frame& frame, AddressUse use,
                          std::vector<std::uint32_t>& numbers) const;

  [[nodiscard]] std::size_t size() const { return rows_.size(); }
  [[nodiscard]] const FrameRow& operator[](std::size_t number) const { return rows_[number]; }
  /// What `top` calls it.
  [[nodiscard]] std::string_view title(const FrameRow& row) const {
    return titles_.text(row.title);
  }
  /// File name of its image, or empty.
  [[nodiscard]] std::string_view image(const FrameRow& row) const;

 private:
  struct Key {
    Frame frame;
    AddressUse use = AddressUse::kExact;
    std::uint32_t module = FrameRow::kNone;
    std::uint32_t function = FrameRow::kNone;
    std::uint32_t inlined = kNoInline;
    std::uint32_t line = 0;
    std::uint32_t depth = 0;  // 0: innermost
    std::uint64_t offset = 0;

    friend bool operator==(const Key&, const Key&) = default;
  };
  struct KeyHash {
    std::uint64_t operator()(const Key& key) const;
  };
  [[nodiscard]] Key key_of(const Frame& frame, AddressUse use, const CodeLocation& location) const;
  void add_row(const Key& key, const CodeLocation& location, const InlineFrame& named,
               std::size_t depth, std::size_t count);
  [[nodiscard]] std::vector<InlineFrame> expand(const CodeLocation& location) const;

  const query::CaptureView& view_;
  const symbols::SymbolIndex& symbols_;
  core::NumberTable<Key, KeyHash> keys_;
  std::vector<FrameRow> rows_;  // by number of the key
  core::StringTable titles_;
};

}  // namespace stackpack::app
