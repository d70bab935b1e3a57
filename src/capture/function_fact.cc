#include "capture/function_fact.h"

#include <span>

#include "bytes/byte_cursor.h"
#include "bytes/byte_text.h"
#include "bytes/byte_writer.h"

namespace stackpack::capture {

namespace {

void write_field(bytes::ByteWriter& out, std::string_view text) {
  out.write_varint(text.size());
  out.write_text(text);
}

std::string_view read_field(bytes::ByteCursor& in) {
  return bytes::text_of(in.read_bytes(in.read_varint()));
}

}  // namespace

void write_code(const CodeFact& code, std::string& text) {
  text.clear();
  if (!code.known()) {
    return;
  }
  bytes::ByteWriter out;
  write_field(out, code.file);
  out.write_varint(code.line);
  for (const InlinedFact& call : code.inlined) {
    write_field(out, call.name);
    write_field(out, call.linkage);
    write_field(out, call.call_file);
    out.write_varint(call.call_line);
  }
  text = bytes::text_of(out.bytes());
}

CodeFact read_code(std::string_view text, std::vector<InlinedFact>& inlined) {
  inlined.clear();
  CodeFact code;
  if (text.empty()) {
    return code;
  }
  bytes::ByteCursor in(std::as_bytes(std::span(text)), 0);
  code.file = read_field(in);
  code.line = static_cast<std::uint32_t>(in.read_varint());
  while (in.ok() && in.remaining() != 0) {
    InlinedFact& call = inlined.emplace_back();
    call.name = read_field(in);
    call.linkage = read_field(in);
    call.call_file = read_field(in);
    call.call_line = static_cast<std::uint32_t>(in.read_varint());
  }
  code.inlined = inlined;
  return code;
}

}  // namespace stackpack::capture
