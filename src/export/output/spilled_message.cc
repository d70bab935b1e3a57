#include "export/output/spilled_message.h"

#include <algorithm>
#include <span>
#include <vector>

#include <protozero/buffer_string.hpp>
#include <protozero/types.hpp>
#include <protozero/varint.hpp>

namespace stackpack::exporting {

void SpilledMessage::flush() {
  if (status_ && !buffer_.empty()) {
    const auto offset = file_.append(std::as_bytes(std::span(buffer_)));
    status_ = offset ? Status{} : Status{offset.error()};
  }
  spilled_ += buffer_.size();
  buffer_.clear();
}

Status SpilledMessage::copy_to(ExportOutput& out, std::uint64_t begin, std::uint64_t end) {
  flush();
  std::vector<std::byte> block;
  while (status_ && out.status() && begin < end) {
    block.resize(static_cast<std::size_t>(std::min<std::uint64_t>(end - begin, kFlushBytes)));
    status_ = file_.read_at(begin, block);
    out.write(block);
    begin += block.size();
  }
  return status_ ? out.status() : status_;
}

void append_field_head(std::string& out, std::uint32_t field, std::uint64_t length) {
  const auto kind = static_cast<std::uint32_t>(protozero::pbf_wire_type::length_delimited);
  protozero::add_varint_to_buffer(&out, (std::uint64_t{field} << 3) | kind);
  protozero::add_varint_to_buffer(&out, length);
}

}  // namespace stackpack::exporting
