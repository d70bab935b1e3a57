#include "formats/perf/tracepoint_formats.h"

#include <algorithm>
#include <charconv>
#include <span>
#include <utility>

#include "bytes/byte_text.h"

namespace stackpack::perf {

namespace {

constexpr std::string_view kMagic = "\x17\x08\x44tracing";
constexpr std::uint64_t kMaxText = std::uint64_t{1} << 20;

std::string_view trimmed(std::string_view text) {
  const auto is_space = [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; };
  while (!text.empty() && is_space(text.front())) {
    text.remove_prefix(1);
  }
  while (!text.empty() && is_space(text.back())) {
    text.remove_suffix(1);
  }
  return text;
}

std::optional<std::uint64_t> number_of(std::string_view text) {
  text = trimmed(text);
  std::uint64_t value = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  return failed == std::errc() && end != text.data() ? std::optional(value) : std::nullopt;
}

// What follows `key` in `line`, up to a semicolon.
std::optional<std::string_view> value_of(std::string_view line, std::string_view key) {
  const std::size_t at = line.find(key);
  if (at == std::string_view::npos) {
    return std::nullopt;
  }
  const std::string_view rest = line.substr(at + key.size());
  return rest.substr(0, rest.find(';'));
}

// The name in a declaration: `char prev_comm[16]`, `pid_t prev_pid`, `void * ptr`.
std::string_view name_in(std::string_view declaration) {
  declaration = trimmed(declaration);
  if (declaration.ends_with(']')) {
    declaration = trimmed(declaration.substr(0, declaration.rfind('[')));
  }
  const std::size_t space = declaration.find_last_of(" \t*");
  return space == std::string_view::npos ? declaration : declaration.substr(space + 1);
}

TracepointContent content_of(std::string_view declaration, std::uint32_t size) {
  declaration = trimmed(declaration);
  const std::string_view name = name_in(declaration);
  const std::string_view type =
      declaration.substr(0, static_cast<std::size_t>(name.data() - declaration.data()));
  const bool is_characters = type.find("char") != std::string_view::npos &&
                             type.find("unsigned") == std::string_view::npos;
  for (const auto& [word, content] : {std::pair("__data_loc", TracepointContent::kTextElsewhere),
                                      std::pair("__rel_loc", TracepointContent::kTextAfter)}) {
    if (declaration.starts_with(word)) {
      return is_characters && size == 4 ? content : TracepointContent::kOther;
    }
  }
  if (declaration.ends_with(']')) {
    return is_characters && type.find('*') == std::string_view::npos ? TracepointContent::kText
                                                                     : TracepointContent::kOther;
  }
  if (size == 0 || size > sizeof(std::uint64_t)) {
    return TracepointContent::kOther;
  }
  return type.find('*') == std::string_view::npos ? TracepointContent::kNumber
                                                  : TracepointContent::kAddress;
}

void read_field(std::string_view line, TracepointFormat& format) {
  const auto declaration = value_of(line, "field:");
  const auto offset = value_of(line, "offset:");
  const auto size = value_of(line, "size:");
  if (!declaration || !offset || !size || format.fields.size() == kMaxTracepointFields) {
    return;
  }
  const std::optional<std::uint64_t> begin = number_of(*offset);
  const std::optional<std::uint64_t> bytes = number_of(*size);
  constexpr std::uint64_t kMost = 65'535;
  if (!begin || !bytes || *begin > kMost || *bytes > kMost) {
    return;
  }
  TracepointField field;
  field.offset = static_cast<std::uint32_t>(*begin);
  field.size = static_cast<std::uint32_t>(*bytes);
  const auto sign = value_of(line, "signed:");
  field.is_signed = (sign && number_of(*sign).value_or(0) == 1) ||
                    declaration->find("pid_t") != std::string_view::npos;
  field.content = content_of(*declaration, field.size);
  format.fields.insert_or_assign(std::string(name_in(*declaration)), field);
}

// Takes `name` and its NUL. False: something else is there.
bool take_marker(bytes::ByteCursor& in, std::string_view name) {
  return in.read_c_string() == name && in.ok();
}

// The text of an event with its size before it.
std::string_view take_text(bytes::ByteCursor& in) {
  const auto size = in.read<std::uint64_t>();
  const std::span<const std::byte> bytes = in.read_bytes(size);
  return bytes::text_of(bytes);
}

}  // namespace

TracepointField TracepointFormat::place_of(std::string_view field) const {
  const auto found = fields.find(field);
  return found == fields.end() || found->second.size > 8 ? TracepointField{} : found->second;
}

std::optional<std::uint64_t> TracepointFormat::read(bytes::ByteCursor payload,
                                                    std::string_view field) const {
  return read_tracepoint_field(payload, place_of(field));
}

std::optional<std::uint64_t> read_tracepoint_field(bytes::ByteCursor payload,
                                                   const TracepointField& place) {
  if (place.size == 0 || place.size > sizeof(std::uint64_t)) {
    return std::nullopt;
  }
  payload.skip(place.offset);
  const std::span<const std::byte> bytes = payload.read_bytes(place.size);
  if (!payload.ok()) {
    return std::nullopt;
  }
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const std::size_t at = payload.order() == bytes::ByteOrder::kLittle ? bytes.size() - 1 - i : i;
    value = value << 8 | std::to_integer<std::uint64_t>(bytes[at]);
  }
  const unsigned unused = 64 - 8 * place.size;
  if (place.is_signed && unused != 0) {
    value = static_cast<std::uint64_t>(static_cast<std::int64_t>(value << unused) >> unused);
  }
  return value;
}

std::optional<std::uint64_t> read_tracepoint_format(std::string_view text,
                                                    TracepointFormat& format) {
  std::optional<std::uint64_t> id;
  const std::size_t print = text.find("print fmt:");
  format.print_format = std::string(print == std::string_view::npos ? "" : text.substr(print));
  text = text.substr(0, print);
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.starts_with("name:")) {
      format.name = std::string(trimmed(line.substr(5)));
    } else if (line.starts_with("ID:")) {
      id = number_of(line.substr(3));
    } else if (line.starts_with("field:")) {
      read_field(line, format);
    }
  }
  return id;
}

namespace {

using WantsTracepoint = bool (*)(std::string_view system, std::string_view name);

void keep_if_wanted(const std::string& system, std::string_view text, WantsTracepoint wanted,
                    TracepointFormats& formats) {
  const std::size_t name = text.find("name:");
  if (text.size() > kMaxText || name == std::string_view::npos ||
      !wanted(system, trimmed(text.substr(name + 5, text.find('\n', name) - name - 5)))) {
    return;
  }
  TracepointFormat format;
  format.system = system;
  const std::optional<std::uint64_t> id = read_tracepoint_format(text, format);
  if (id && formats.size() < kMaxTracepointFormats) {
    formats.insert_or_assign(*id, std::move(format));
  }
}

}  // namespace

bool read_tracepoint_formats(bytes::ByteCursor in, WantsTracepoint wanted,
                             TracepointFormats& formats) {
  const std::span<const std::byte> magic = in.read_bytes(kMagic.size());
  if (!in.ok() || !std::equal(magic.begin(), magic.end(), kMagic.begin(),
                              [](std::byte a, char b) { return a == static_cast<std::byte>(b); })) {
    return false;
  }
  in.read_c_string();  // version
  const bool big = in.read<std::uint8_t>() != 0;
  in.skip(1 + 4);  // size of long, size of a page
  in = bytes::ByteCursor(in.rest(), in.offset(),
                         big ? bytes::ByteOrder::kBig : bytes::ByteOrder::kLittle);
  for (const std::string_view header : {"header_page", "header_event"}) {
    if (!take_marker(in, header)) {
      return false;
    }
    in.skip(in.read<std::uint64_t>());
  }
  const auto own = in.read<std::uint32_t>();
  for (std::uint32_t i = 0; i < own && in.ok(); ++i) {
    take_text(in);
  }
  const auto systems = in.read<std::uint32_t>();
  for (std::uint32_t i = 0; i < systems && in.ok(); ++i) {
    const std::string system(in.read_c_string());
    const auto count = in.read<std::uint32_t>();
    for (std::uint32_t event = 0; event < count && in.ok(); ++event) {
      keep_if_wanted(system, take_text(in), wanted, formats);
    }
  }
  return in.ok();
}

}  // namespace stackpack::perf
