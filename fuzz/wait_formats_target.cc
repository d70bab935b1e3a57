// The texts by which a kernel describes its tracepoints: whatever they say, reading ends well, and
// fields are read within the payload.
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "bytes/byte_cursor.h"
#include "formats/perf/task_states.h"
#include "formats/perf/tracepoint_formats.h"
#include "fuzz/require.h"

namespace stackpack::fuzz {

namespace {

void use(const perf::TracepointFormat& format, std::span<const std::byte> payload) {
  require(format.fields.size() <= perf::kMaxTracepointFields);
  for (const auto& [name, field] : format.fields) {
    const auto value = format.read(bytes::ByteCursor(payload, 0), name);
    require(!value || std::uint64_t{field.offset} + field.size <= payload.size());
  }
  const perf::TaskStates states(format.print_format);
  for (std::uint64_t state = 0; state < 0x1000; state = state * 2 + 1) {
    require(!states.letters(state).empty());
  }
}

}  // namespace

void wait_formats(std::span<const std::byte> data) {
  std::string text;
  for (const std::byte byte : data) {
    text += static_cast<char>(byte);
  }
  perf::TracepointFormat format;
  perf::read_tracepoint_format(text, format);
  use(format, data);
  use({"sched", "sched_switch", {}, text}, data);
  perf::TracepointFormats formats;
  perf::read_tracepoint_formats(
      bytes::ByteCursor(data, 0),
      [](std::string_view /*system*/, std::string_view name) { return name != "other"; }, formats);
  require(formats.size() <= perf::kMaxTracepointFormats);
  for (const auto& [id, known] : formats) {
    use(known, data);
  }
}

}  // namespace stackpack::fuzz
