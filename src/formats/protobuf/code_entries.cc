#include "formats/protobuf/code_entries.h"

#include <charconv>
#include <iterator>
#include <limits>

#include "formats/protobuf/message_view.h"

namespace stackpack::protobuf {

namespace {

// Not known when it is negative or absurd.
std::uint32_t line_number(std::int64_t value) {
  return value > 0 && value < std::int64_t{std::numeric_limits<std::uint32_t>::max()}
             ? static_cast<std::uint32_t>(value)
             : 0;
}

}  // namespace

void take_function_field(protozero::pbf_reader& message, std::uint32_t name,
                         FunctionEntry& function) {
  const std::uint32_t kind = message.tag_and_type();
  if (kind == number(name)) {
    function.name = message.get_uint64();
  } else if (kind == number(name + 1)) {
    function.system_name = message.get_uint64();
  } else if (kind == number(name + 2)) {
    function.file = message.get_uint64();
  } else if (kind == number(name + 3)) {
    function.start_line = line_number(message.get_int64());
  } else {
    message.skip();
  }
}

LineEntry read_line(protozero::pbf_reader message) {
  LineEntry line;
  while (message.next()) {
    switch (message.tag_and_type()) {
      case number(1):
        line.function = message.get_uint64();
        break;
      case number(2):
        line.line = line_number(message.get_int64());
        break;
      default:
        message.skip();
    }
  }
  return line;
}

std::string hex(std::uint64_t value) {
  char digits[16];
  const auto end = std::to_chars(std::begin(digits), std::end(digits), value, 16);
  return "0x" + std::string(digits, end.ptr);
}

std::vector<std::uint8_t> bytes_of_hex(std::string_view text) {
  std::vector<std::uint8_t> bytes;
  for (std::size_t i = 0; i + 1 < text.size(); i += 2) {
    std::uint8_t byte = 0;
    const auto read = std::from_chars(text.data() + i, text.data() + i + 2, byte, 16);
    if (read.ec != std::errc() || read.ptr != text.data() + i + 2) {
      return {};
    }
    bytes.push_back(byte);
  }
  return text.size() % 2 == 0 ? bytes : std::vector<std::uint8_t>();
}

}  // namespace stackpack::protobuf
