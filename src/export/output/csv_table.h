#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "export/output/export_output.h"
#include "io/output_file.h"
#include "stackpack/result.h"

namespace stackpack::exporting {

/// One table as comma-separated values (RFC 4180, lines end in \n, first line names the columns).
/// A field that is not known is empty. Nothing is put in front of text which a spreadsheet would
/// take for a formula (it begins with = + - @): it would be other text then. It is quoted.
class CsvTable {
 public:
  static Result<std::unique_ptr<CsvTable>> create(const std::string& path, std::string_view columns,
                                                  const io::OutputRules& rules = {});

  CsvTable& text(std::string_view value);
  CsvTable& number(std::uint64_t value);
  /// With that many digits behind the point.
  CsvTable& decimal(std::uint64_t value, unsigned decimals);
  /// 0x and sixteen digits.
  CsvTable& hex(std::uint64_t value);
  /// A number, or nothing when it is the value that means «not known».
  template <std::unsigned_integral T>
  CsvTable& known(T value, T unknown) {
    return value == unknown ? nothing() : number(value);
  }
  CsvTable& nothing();
  void end_row();

  [[nodiscard]] const Status& status() const { return out_.status(); }
  Status finish() { return out_.finish(); }
  [[nodiscard]] std::uint64_t bytes() const { return file_->offset(); }
  Status prepare() { return file_->prepare(); }
  Status commit() { return file_->commit(); }

 private:
  explicit CsvTable(std::unique_ptr<io::OutputFile> file);
  void separate();

  std::unique_ptr<io::OutputFile> file_;
  ExportOutput out_;
  bool row_begun_ = false;
};

}  // namespace stackpack::exporting
