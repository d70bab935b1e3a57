// Call frame information: .eh_frame and .debug_frame.
//
// A section is a sequence of entries, each after its length. A CIE says what the FDEs that refer to
// it have in common; an FDE has the program for the code of one function. The two sections differ
// in how an FDE refers to its CIE and in how addresses are written.
// Source: DWARF 5, section 6.4; Linux Standard Base, "Exception Frames".
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "bytes/byte_cursor.h"

namespace stackpack::unwind {

/// A pointer that is not there.
inline constexpr std::uint8_t kPointerOmitted = 0xFF;
/// Eight bytes, as they are.
inline constexpr std::uint8_t kPointerAbsolute = 0x00;

/// What pointers of a section are relative to.
struct PointerBases {
  std::uint64_t section = 0;  ///< address of the section's first byte
  std::uint64_t data = 0;     ///< address of .eh_frame_hdr, for pointers inside of it
};

/// Reads a pointer in one of the encodings DW_EH_PE_*.
/// Result: nothing for an encoding that is not known or needs the memory of a process. The cursor
///         shows whether the bytes were there.
std::optional<std::uint64_t> read_encoded(bytes::ByteCursor& in, std::uint8_t encoding,
                                          const PointerBases& bases);

/// The same without what the pointer is relative to: for sizes.
std::optional<std::uint64_t> read_encoded_size(bytes::ByteCursor& in, std::uint8_t encoding);

enum class FrameFormat : std::uint8_t { kEhFrame, kDebugFrame };

struct Cie {
  bytes::ByteCursor program{{}, 0};  ///< instructions that come before those of each FDE
  std::uint64_t code_alignment = 1;
  std::int64_t data_alignment = 1;
  std::uint64_t return_register = 0;
  std::uint8_t pointer_encoding = 0;
  bool has_augmentation = false;  ///< FDEs have a size of further data before their program
  bool is_signal_frame = false;
};

struct Fde {
  Cie cie;
  std::uint64_t begin = 0;  ///< addresses in the file
  std::uint64_t size = 0;
  bytes::ByteCursor program{{}, 0};

  [[nodiscard]] bool covers(std::uint64_t address) const { return address - begin < size; }
};

/// The bytes of such a section, which must outlive it.
class FrameSection {
 public:
  FrameSection() = default;
  /// `address`: of the first byte, as pointers in it assume.
  FrameSection(std::span<const std::byte> bytes, std::uint64_t address, FrameFormat format)
      : bytes_(bytes), address_(address), format_(format) {}

  [[nodiscard]] bool empty() const { return bytes_.empty(); }
  [[nodiscard]] std::size_t size() const { return bytes_.size(); }
  [[nodiscard]] std::uint64_t address() const { return address_; }

  /// The FDE at `offset`; nothing when there is a CIE or damage.
  [[nodiscard]] std::optional<Fde> fde_at(std::uint64_t offset) const;

  /// Visits the offset and first address of every FDE; entries that are damaged are passed over.
  /// `visit`: false ends it. Cost: linear in the section.
  template <typename Visit>
  void each_fde(const Visit& visit) const {
    for (std::uint64_t offset = 0; offset < bytes_.size();) {
      const std::optional<Entry> entry = entry_at(offset);
      if (!entry) {
        return;
      }
      if (!entry->is_cie && entry->body.remaining() != 0) {
        if (const std::optional<Fde> fde = fde_of(*entry); fde && !visit(offset, *fde)) {
          return;
        }
      }
      offset = entry->next;
    }
  }

 private:
  struct Entry {
    bytes::ByteCursor body{{}, 0};  // after the reference to the CIE
    std::uint64_t next = 0;         // offset of the entry after it
    std::uint64_t cie = 0;          // offset of its CIE
    bool is_cie = false;
  };
  [[nodiscard]] std::optional<Entry> entry_at(std::uint64_t offset) const;
  [[nodiscard]] std::optional<Cie> cie_at(std::uint64_t offset) const;
  [[nodiscard]] std::optional<Fde> fde_of(const Entry& entry) const;
  bool read_augmentation(std::string_view text, bytes::ByteCursor& body, Cie& cie) const;

  std::span<const std::byte> bytes_;
  std::uint64_t address_ = 0;
  FrameFormat format_ = FrameFormat::kEhFrame;
};

}  // namespace stackpack::unwind
