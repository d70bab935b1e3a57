#include "formats/dotnet/method_payload.h"

#include <array>

#include "bytes/byte_cursor.h"
#include "bytes/wide_text.h"
#include "core/index_table.h"

namespace stackpack::dotnet {

namespace {

constexpr std::size_t kMethodHeadBytes = 36;  // before the texts

// What comes before the texts; the number of the method.
std::uint64_t read_method_head(bytes::ByteCursor& in, capture::FunctionFact& fact) {
  const auto method = in.read<std::uint64_t>();
  in.read<std::uint64_t>();  // module
  fact.start = in.read<std::uint64_t>();
  fact.size = in.read<std::uint32_t>();
  in.read<std::uint64_t>();  // token, flags
  fact.source = FunctionSource::kClr;
  return method;
}

bool read_method_texts(bytes::ByteCursor& in, std::string& name) {
  name.clear();
  const bool has_namespace = bytes::append_wide_text(in, name);
  if (!name.empty()) {
    name += '.';
  }
  const bool has_name = bytes::append_wide_text(in, name);
  // Of the signature, what the method takes: what it returns comes before the parenthesis.
  const std::size_t before = name.size();
  const bool has_signature = bytes::append_wide_text(in, name);
  const std::size_t parenthesis = name.find('(', before);
  name.erase(before, parenthesis == std::string::npos ? parenthesis : parenthesis - before);
  return in.ok() && has_namespace && has_name && has_signature;
}

// Whether the texts of the payload end where they should, if nothing follows that is not known.
bool ends_with_text(std::span<const std::byte> payload, std::size_t tail) {
  constexpr std::size_t kLeast = kMethodHeadBytes + 3 * sizeof(std::uint16_t);
  if (payload.size() < kLeast + tail || (payload.size() - tail) % 2 != 0) {
    return false;
  }
  const std::span<const std::byte> end = payload.last(tail + 2);
  return end[0] == std::byte{0} && end[1] == std::byte{0};
}

}  // namespace

bool read_method(const MethodPayload& payload, capture::FunctionFact& fact, std::string& name) {
  bytes::ByteCursor in(payload.bytes, 0);
  const std::uint64_t method = read_method_head(in, fact);
  if (!read_method_texts(in, name)) {
    return false;
  }
  const bool by_length = !payload.version;
  const unsigned version = payload.version.value_or(2);
  const bool has_instance = by_length ? in.remaining() >= 2 : version >= 1;
  in.skip(has_instance ? 2U : 0U);
  const std::uint64_t code =
      version >= 2 && in.remaining() >= 8 ? in.read<std::uint64_t>() : std::uint64_t{0};
  fact.id = core::mix_bits(method) ^ code;
  return true;
}

bool read_method_but_name(const MethodPayload& payload, capture::FunctionFact& fact) {
  // What follows the texts: the instance of the runtime, the version of the code.
  constexpr std::array<std::size_t, 3> kTails = {0, 2, 10};
  if (!payload.version || *payload.version >= kTails.size() ||
      !ends_with_text(payload.bytes, kTails[*payload.version])) {
    return false;
  }
  bytes::ByteCursor in(payload.bytes, 0);
  fact.id = core::mix_bits(read_method_head(in, fact));
  if (*payload.version == 2) {
    in.seek(payload.bytes.size() - sizeof(std::uint64_t));
    fact.id ^= in.read<std::uint64_t>();
  }
  return in.ok();
}

bool read_method_name(std::span<const std::byte> payload, std::string& name) {
  bytes::ByteCursor in(payload, 0);
  in.skip(kMethodHeadBytes);
  return read_method_texts(in, name);
}

std::uint64_t module_of_method(std::span<const std::byte> payload) {
  bytes::ByteCursor in(payload, 0);
  in.skip(sizeof(std::uint64_t));
  return in.read<std::uint64_t>();
}

Result<bool> MethodNames::read(std::uint64_t offset, std::uint32_t bytes, std::string& name) {
  payload_.resize(bytes);
  if (const Status read = io::read_exactly_at(capture_, offset, payload_, "method event"); !read) {
    return read.error();
  }
  const bool good = read_method_name(payload_, name);
  if (!good) {
    losses_.add(bad_method_, LossKind::kDamage, 1, offset);
  }
  return good;
}

}  // namespace stackpack::dotnet
