// The sections functions, inlined calls, lines and texts: blocks of rows in columns, as
// docs/format.md has them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bytes/byte_cursor.h"
#include "spk/format/column_codec.h"
#include "spk/format/layout.h"
#include "stackpack/names.h"
#include "stackpack/result.h"

namespace stackpack::spk {

// Append one block of at most kNamesPerBlock rows. `texts`: texts that rows of earlier blocks have
// named, of all three sections; becomes what it is after the block. A text is first named when its
// number is the next one.
void encode_names(std::span<const Function> rows, std::uint32_t& texts, BlockContent& content);
void encode_names(std::span<const InlinedCall> rows, std::uint64_t first_row, std::uint32_t& texts,
                  BlockContent& content);
void encode_names(std::span<const CodeLine> rows, std::uint32_t& texts, BlockContent& content);
/// Births of as many lines.
void encode_births(std::span<const std::uint64_t> rows, BlockContent& content);
/// Which texts are names of as many aliases, ascending.
void encode_alias_names(std::span<const std::uint32_t> rows, BlockContent& content);
/// At most kRowsPerTableBlock texts.
void encode_texts(std::span<const std::string> rows, BlockContent& content);

// Append the rows of one block. Errors: kCorrupt, also when rows are not in order.
Status decode_names(bytes::ByteCursor in, std::uint32_t& texts, std::vector<Function>& rows);
Status decode_names(bytes::ByteCursor in, std::uint32_t& texts, std::vector<InlinedCall>& rows);
Status decode_names(bytes::ByteCursor in, std::uint32_t& texts, std::vector<CodeLine>& rows);
Status decode_births(bytes::ByteCursor in, std::vector<std::uint64_t>& rows);
Status decode_alias_names(bytes::ByteCursor in, std::vector<FunctionAlias>& rows);
Status decode_texts(bytes::ByteCursor in, TextTable& rows);

/// Whether a file can have a function or line of these bytes: at least one, the last address of all
/// excepted. A writer refuses what a reader would.
constexpr bool is_addressable(const CodeRange& range) {
  return range.size != 0 && range.size <= ~std::uint64_t{0} - range.start;
}

/// Whether its owner may own it: the kernel has one number, and only processes have lives.
constexpr bool is_owned(const CodeRange& range) {
  return (range.owner != FunctionOwner::kKernel || range.pid == kKernelPid) &&
         (range.owner == FunctionOwner::kProcess || range.life_ns == kUnknownTime);
}

/// Whether its module is one of so many.
constexpr bool has_module(const CodeRange& range, std::uint64_t modules) {
  return range.owner != FunctionOwner::kImage || range.module < modules;
}

/// Whether `a` may come before `b` in a file.
bool in_order(const Function& a, const Function& b);
bool in_order(const CodeLine& a, const CodeLine& b);

/// Counts the calls that are inlined into each other at the lines of a file: where a line is shown,
/// all of them are. Rows name rows before them, so that n of each could stand for the square of n.
///
/// Memory: four bytes per call.
class InlineBounds {
 public:
  /// `parent` is kNoInline or a row added before.
  void add_call(std::uint32_t parent) {
    depths_.push_back(parent == kNoInline ? 1 : depths_[parent] + 1);
  }
  /// `inlined` is kNoInline or a row added.
  void add_line(std::uint32_t inlined) {
    ++lines_;
    shown_ += inlined == kNoInline ? 0 : depths_[inlined];
  }
  [[nodiscard]] bool kept() const { return shown_ / kInlinedPerRow <= lines_ + depths_.size(); }

 private:
  std::vector<std::uint32_t> depths_;
  std::uint64_t lines_ = 0;
  std::uint64_t shown_ = 0;
};

}  // namespace stackpack::spk
