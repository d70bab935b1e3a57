#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "arrow/arrow_column.h"
#include "stackpack/result.h"

namespace stackpack::arrow {

/// Which columns of a table are wanted, and in which order.
class Projection {
 public:
  static constexpr std::size_t kUnwanted = ~std::size_t{0};

  /// `names`: none for all of `fields`. Errors: kUsage, a name that is not there or twice.
  static Result<Projection> create(std::span<const Field> fields,
                                   std::span<const std::string> names);

  /// The wanted ones, in their order.
  [[nodiscard]] const std::vector<Field>& fields() const { return fields_; }
  /// Where a field of the table is among them, or kUnwanted.
  [[nodiscard]] std::size_t place(std::size_t field) const { return places_[field]; }
  [[nodiscard]] bool wants(std::size_t field) const { return places_[field] != kUnwanted; }

 private:
  std::vector<Field> fields_;
  std::vector<std::size_t> places_;
};

/// Rows of a table in the making. Fields go by their numbers in the table; what is put into one
/// that nobody wants is dropped.
class Batch {
 public:
  /// The projection must outlive this.
  explicit Batch(const Projection& projection);

  [[nodiscard]] bool wants(std::size_t field) const { return projection_.wants(field); }
  /// Of a wanted field.
  [[nodiscard]] Column& column(std::size_t field) { return columns_[projection_.place(field)]; }

  // One row: one call for each field, then end_row().
  void put_number(std::size_t field, std::uint64_t value);
  /// Null when it is `null`.
  void put_number(std::size_t field, std::uint64_t value, std::uint64_t null);
  void put_bool(std::size_t field, bool value);
  void put_text(std::size_t field, std::string_view text);
  /// Null when it is empty.
  void put_text_or_null(std::size_t field, std::string_view text);
  void put_null(std::size_t field);
  void end_row() { ++rows_; }

  /// After columns were filled directly.
  void add_rows(std::size_t rows) { rows_ += rows; }

  [[nodiscard]] std::size_t rows() const { return rows_; }
  /// Whether it should end: `most_rows`, or 16 MiB of texts in a column.
  [[nodiscard]] bool full(std::size_t most_rows) const;

  /// Exchanges the rows with those of a batch of the same columns.
  void swap_rows(Batch& other) {
    columns_.swap(other.columns_);
    std::swap(rows_, other.rows_);
  }

  /// Moves the rows to *out, whose release frees them. Throws std::bad_alloc, *out is not written
  /// then.
  void move_to(ArrowArray* out);

 private:
  const Projection& projection_;
  std::vector<Column> columns_;
  std::size_t rows_ = 0;
};

}  // namespace stackpack::arrow
