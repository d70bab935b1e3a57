#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "bytes/byte_cursor.h"
#include "formats/jfr/event_types.h"
#include "formats/jfr/number_coding.h"

namespace stackpack::jfr {

/// A frame of a stack trace: keys of constants, and a line.
struct FrameRow {
  std::uint64_t method = 0;
  std::uint32_t line = 0;
};

/// The members of one value that are understood (Slot). What is not there is 0 or empty.
struct ValueRow {
  std::array<std::uint64_t, kSlots> numbers{};  ///< numbers; keys of constants
  std::array<std::string, kSlots> texts;
  std::array<std::uint64_t, kSlots> text_keys{};  ///< of texts that are constants
  std::vector<FrameRow> frames;

  [[nodiscard]] std::uint64_t number(Slot slot) const {
    return numbers[static_cast<std::size_t>(slot)];
  }
  void clear();
};

/// Reads values by the description of their type.
class ValueReader {
 public:
  /// Frames of a trace beyond these are passed over.
  static constexpr std::size_t kMostFrames = 4'096;

  ValueReader(const EventTypes& types, NumberCoding coding) : types_(types), coding_(coding) {}

  /// The value of `type` at the cursor into `row`. The cursor fails when it is none. True: a trace
  /// had more frames than are kept.
  bool read(const Type& type, bytes::ByteCursor& in, ValueRow& row) const;

 private:
  void read_members(const Type& type, bytes::ByteCursor& in, ValueRow* row, unsigned depth,
                    bool& cut) const;
  void read_member(const Member& member, bytes::ByteCursor& in, ValueRow* row, unsigned depth,
                   bool& cut) const;
  [[nodiscard]] std::uint64_t read_number(const Member& member, bytes::ByteCursor& in) const;
  void read_frames(const Type& type, std::uint64_t count, bytes::ByteCursor& in, ValueRow& row,
                   unsigned depth, bool& cut) const;

  const EventTypes& types_;
  NumberCoding coding_;
};

}  // namespace stackpack::jfr
