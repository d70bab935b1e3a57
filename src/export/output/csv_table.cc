#include "export/output/csv_table.h"

#include <array>
#include <charconv>

#include "bytes/byte_text.h"
#include "core/weight_scale.h"

namespace stackpack::exporting {

CsvTable::CsvTable(std::unique_ptr<io::OutputFile> file)
    : file_(std::move(file)), out_(*file_, ExportOutput::Coding::kPlain) {}

Result<std::unique_ptr<CsvTable>> CsvTable::create(const std::string& path,
                                                   std::string_view columns,
                                                   const io::OutputRules& rules) {
  io::remove_leftovers({&path, 1});
  auto file = io::OutputFile::create(path, rules);
  if (!file) {
    return file.error();
  }
  std::unique_ptr<CsvTable> table(new CsvTable(std::move(*file)));
  table->out_.write(columns);
  table->out_.put('\n');
  return table;
}

void CsvTable::separate() {
  if (row_begun_) {
    out_.put(',');
  }
  row_begun_ = true;
}

CsvTable& CsvTable::nothing() {
  separate();
  return *this;
}

CsvTable& CsvTable::number(std::uint64_t value) {
  separate();
  std::array<char, 20> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  out_.write(std::string_view(digits.data(), static_cast<std::size_t>(end - digits.data())));
  return *this;
}

CsvTable& CsvTable::decimal(std::uint64_t value, unsigned decimals) {
  if (decimals == 0) {
    return number(value);
  }
  separate();
  out_.write(core::decimal_text(value, decimals));
  return *this;
}

CsvTable& CsvTable::hex(std::uint64_t value) {
  separate();
  std::array<char, 18> text{'0', 'x'};
  for (std::size_t at = text.size(); at-- > 2; value >>= 4) {
    text[at] = bytes::kLowerHex[value & 0xF];
  }
  out_.write(std::string_view(text.data(), text.size()));
  return *this;
}

CsvTable& CsvTable::text(std::string_view value) {
  separate();
  const bool like_formula =
      !value.empty() && std::string_view("=+-@\t").find(value.front()) != std::string_view::npos;
  if (!like_formula && value.find_first_of(",\"\r\n") == std::string_view::npos) {
    out_.write(value);
    return *this;
  }
  out_.put('"');
  for (const char c : value) {
    if (c == '"') {
      out_.put('"');
    }
    out_.put(c);
  }
  out_.put('"');
  return *this;
}

void CsvTable::end_row() {
  out_.put('\n');
  row_begun_ = false;
}

}  // namespace stackpack::exporting
