// Writes .nettrace and .netperf files of versions 3, 4 and 6 in memory.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "support/test_bytes.h"

namespace stackpack::test {

inline TestBytes& put_varint(TestBytes& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) {
    out.u8(static_cast<std::uint8_t>(value | 0x80));
  }
  return out.u8(static_cast<std::uint8_t>(value));
}

inline TestBytes& put_utf16(TestBytes& out, std::string_view text) {
  for (const char c : text) {
    out.u16(static_cast<unsigned char>(c));
  }
  return out.u16(0);
}

/// Text of version 6, and of the universal providers.
inline TestBytes& put_utf8(TestBytes& out, std::string_view text) {
  return put_varint(out, text.size()).text(text);
}
inline TestBytes& put_short_utf8(TestBytes& out, std::string_view text) {
  return out.u16(static_cast<std::uint16_t>(text.size())).text(text);
}

/// A row of an event block.
struct NettraceEvent {
  std::uint32_t metadata = 1;
  std::uint32_t number = 1;
  std::uint64_t capture_thread = 7;
  std::uint64_t thread = 7;
  std::uint32_t processor = 0;
  std::uint32_t stack = 0;
  std::uint64_t ticks = 2000;
  std::vector<std::byte> payload;
  std::vector<std::uint64_t> inline_stack;  // version 3
};

class NettraceWriter {
 public:
  explicit NettraceWriter(std::uint32_t version, unsigned pointer_size = 8,
                          std::uint64_t frequency = 1'000'000)
      : version_(version), pointer_size_(pointer_size) {
    if (version >= 4) {
      file_.text("Nettrace");
    }
    if (version == 6) {
      file_.u32(0).u32(6).u32(0);
    } else {
      file_.u32(20).text("!FastSerialization.1");
    }
    TestBytes trace;
    for (const unsigned field : {2024U, 2U, 4U, 29U, 12U, 30U, 15U, 250U}) {
      trace.u16(static_cast<std::uint16_t>(field));
    }
    trace.u64(1000).u64(frequency).u32(pointer_size);
    if (version == 6) {
      trace.u32(1);
      put_utf8(trace, "HardwareThreadCount");
      put_utf8(trace, "4");
      block(1, trace.bytes);
    } else {
      trace.u32(4321).u32(4).u32(1'000'000);
      begin_object("Trace", version);
      file_.append(trace.bytes).u8(6);
    }
  }

  /// Describes a kind of events.
  void metadata(std::uint32_t id, std::string_view provider, std::uint32_t event,
                std::string_view name, std::uint32_t event_version = 0,
                std::string_view field = {}) {
    TestBytes out;
    if (version_ == 6) {
      TestBytes row;
      put_varint(row, id);
      put_utf8(row, provider);
      put_varint(row, event);
      put_utf8(row, name).u16(field.empty() ? 0 : 1);
      if (!field.empty()) {
        TestBytes about;
        put_utf8(about, field).u8(8);
        row.u16(static_cast<std::uint16_t>(about.bytes.size())).append(about.bytes);
      }
      row.u16(0);
      out.u16(0).u16(static_cast<std::uint16_t>(row.bytes.size())).append(row.bytes);
      block(3, out.bytes);
      return;
    }
    TestBytes payload;
    payload.u32(id);
    put_utf16(payload, provider).u32(event);
    put_utf16(payload, name).u64(0).u32(event_version).u32(4).u32(0);
    NettraceEvent row;
    row.metadata = 0;
    row.number = 0;
    row.payload = payload.bytes;
    if (version_ == 3) {
      begin_object("EventBlock", 1);
      content(old_row(row).bytes);
    } else {
      begin_object("MetadataBlock", 2);
      content(rows({row}));
    }
    file_.u8(6);
  }

  void stacks(std::uint32_t first, const std::vector<std::vector<std::uint64_t>>& stacks) {
    TestBytes out;
    out.u32(first).u32(static_cast<std::uint32_t>(stacks.size()));
    for (const std::vector<std::uint64_t>& stack : stacks) {
      put_stack(out, stack);
    }
    object("StackBlock", 5, out.bytes);
  }

  void events(const std::vector<NettraceEvent>& events) {
    if (version_ > 3) {
      object("EventBlock", 2, rows(events));
      return;
    }
    begin_object("EventBlock", 1);
    TestBytes out;
    for (const NettraceEvent& event : events) {
      out.append(old_row(event).bytes);
    }
    content(out.bytes);
    file_.u8(6);
  }

  /// Threads and the last numbers that they gave.
  void sequence_point(const std::vector<std::pair<std::uint64_t, std::uint32_t>>& last,
                      std::uint32_t flags = 0) {
    TestBytes out;
    out.u64(5000);
    if (version_ == 6) {
      out.u32(flags);
    }
    out.u32(static_cast<std::uint32_t>(last.size()));
    for (const auto& [thread, number] : last) {
      if (version_ == 6) {
        put_varint(put_varint(out, thread), number);
      } else {
        out.u64(thread).u32(number);
      }
    }
    object("SPBlock", 4, out.bytes);
  }

  /// Version 6: an index of a thread.
  void thread(std::uint64_t index, std::uint64_t pid, std::uint64_t tid) {
    TestBytes row;
    put_varint(row, index).u8(2);
    put_varint(row, pid).u8(3);
    put_varint(row, tid);
    TestBytes out;
    out.u16(static_cast<std::uint16_t>(row.bytes.size())).append(row.bytes);
    block(6, out.bytes);
  }

  /// Version 6.
  void block(std::uint32_t kind, const std::vector<std::byte>& bytes) {
    file_.u32(static_cast<std::uint32_t>(bytes.size()) | kind << 24).append(bytes);
  }

  [[nodiscard]] std::size_t size() const { return file_.bytes.size(); }

  /// The file so far, as a recorder leaves it that was killed; or properly ended.
  std::vector<std::byte> finish(bool ended = true) {
    if (ended && version_ == 6) {
      file_.u32(0);
    } else if (ended) {
      file_.u8(1);
    }
    return file_.bytes;
  }

 private:
  void begin_object(std::string_view name, std::uint32_t object_version) {
    const std::uint8_t tag = version_ == 4 ? 5 : 4;
    file_.u8(tag).u8(tag).u8(1).u32(object_version).u32(0);
    file_.u32(static_cast<std::uint32_t>(name.size())).text(name).u8(6);
  }
  void content(const std::vector<std::byte>& bytes) {
    file_.u32(static_cast<std::uint32_t>(bytes.size())).pad_to(4).append(bytes);
  }
  void object(std::string_view name, std::uint32_t kind, const std::vector<std::byte>& bytes) {
    if (version_ == 6) {
      return block(kind, bytes);
    }
    begin_object(name, 2);
    content(bytes);
    file_.u8(6);
  }
  void put_stack(TestBytes& out, const std::vector<std::uint64_t>& stack) const {
    out.u32(static_cast<std::uint32_t>(stack.size() * pointer_size_));
    for (const std::uint64_t address : stack) {
      if (pointer_size_ == 8) {
        out.u64(address);
      } else {
        out.u32(static_cast<std::uint32_t>(address));
      }
    }
  }
  [[nodiscard]] TestBytes old_row(const NettraceEvent& event) const {
    TestBytes stack;
    put_stack(stack, event.inline_stack);
    TestBytes row;
    row.u32(static_cast<std::uint32_t>(52 + event.payload.size() + stack.bytes.size()))
        .u32(event.metadata)
        .u32(static_cast<std::uint32_t>(event.thread))
        .u64(event.ticks)
        .zeros(32)
        .u32(static_cast<std::uint32_t>(event.payload.size()))
        .append(event.payload)
        .append(stack.bytes);
    return row;
  }
  // Compressed rows that say everything.
  [[nodiscard]] std::vector<std::byte> rows(const std::vector<NettraceEvent>& events) const {
    TestBytes out;
    out.u16(20).u16(1);
    out.u64(events.front().ticks).u64(events.back().ticks);
    std::uint32_t number = 0;
    std::uint64_t ticks = 0;
    for (const NettraceEvent& event : events) {
      out.u8(0x8F);
      put_varint(out, event.metadata);
      put_varint(out, std::uint32_t{event.number - number - 1});
      put_varint(out, event.capture_thread);
      put_varint(out, event.processor);
      put_varint(out, event.thread);
      put_varint(out, event.stack);
      put_varint(out, event.ticks - ticks);
      put_varint(out, event.payload.size()).append(event.payload);
      number = event.number;
      ticks = event.ticks;
    }
    return out.bytes;
  }

  std::uint32_t version_;
  unsigned pointer_size_;
  TestBytes file_;
};

}  // namespace stackpack::test
