// What the payload of an event consists of, as a capture itself describes it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stackpack/model.h"
#include "stackpack/result.h"

namespace stackpack::capture {

enum class PayloadType : std::uint8_t {
  kSigned,       ///< `size` bytes
  kUnsigned,     ///< `size` bytes
  kHex,          ///< `size` bytes, shown in hexadecimal digits
  kPointer,      ///< as long as the capture's pointers
  kReal,         ///< 4 or 8 bytes
  kBool,         ///< `size` bytes
  kVarSigned,    ///< zigzag LEB128
  kVarUnsigned,  ///< LEB128
  kChar16,       ///< a UTF-16 code unit; several are a text
  kChar8,        ///< a byte of UTF-8; several are a text
  kText16,       ///< UTF-16
  kText8,        ///< UTF-8
  kBytes,        ///< any, shown in hexadecimal digits
  kGuid,         ///< 16 bytes
  kSystemTime,   ///< 8 x u16: year, month, day of week, day, hour, minute, second, ms
  kFileTime,     ///< u64: 100 ns since 1601
  kSid,          ///< u8 revision, u8 count, 6 bytes of authority, count x u32
  kStruct,       ///< its members
};

/// How often an element comes, or how long a text or blob is.
enum class PayloadExtent : std::uint8_t {
  kOne,       ///< one element; a text up to its NUL, a blob up to the end
  kFixed,     ///< `number`
  kPrefixed,  ///< u16 before it
  kField,     ///< the value of the field with the slot `number`, which came last
  kRelative,  ///< u16 distance from the end of this, u16 bytes
  kAbsolute,  ///< u16 distance from the begin of the payload, u16 bytes
};

struct PayloadField {
  static constexpr std::uint16_t kNoSlot = 0xFFFF;

  std::string name;
  PayloadType type = PayloadType::kUnsigned;
  std::uint8_t size = 4;
  PayloadExtent count = PayloadExtent::kOne;
  PayloadExtent length = PayloadExtent::kOne;  ///< of a text, in code units, or of a blob, in bytes
  bool length_in_bytes = false;                ///< of kText16
  std::uint16_t slot = kNoSlot;  ///< under which lengths and counts refer to it; below
                                 ///< kMostPayloadFields
  std::uint32_t count_number = 0;
  std::uint32_t length_number = 0;
  std::vector<PayloadField> members;  ///< kStruct
};

/// Fields in the order of the payload. Empty: not known.
using PayloadSchema = std::vector<PayloadField>;

/// Most fields of an event, those in structs included, and how deep structs go: readers of schemas
/// leave the rest out.
inline constexpr std::size_t kMostPayloadFields = 1024;
inline constexpr unsigned kMostPayloadDepth = 8;

/// A kind of events that a capture describes.
struct DescribedEvent {
  std::string name;  ///< "Provider/Task/Opcode"
  std::string provider;
  PayloadSchema schema;
};

/// Descriptions by a key of the source's own.
///
/// Memory: kMostBytes, about; what is beyond is not known.
class PayloadSchemas {
 public:
  static constexpr std::size_t kMostBytes = std::size_t{64} << 20;

  /// The first one of a key stays.
  void add(std::string key, const DescribedEvent& event);
  [[nodiscard]] const DescribedEvent* find(std::string_view key) const;

 private:
  std::map<std::string, DescribedEvent, std::less<>> events_;
  std::size_t bytes_ = 0;
};

/// An event with its payload. Spans and texts are valid during the call.
struct PayloadEvent {
  std::uint64_t time_ns = 0;
  std::uint32_t pid = kUnknownId;
  std::uint32_t tid = kUnknownId;
  std::string_view provider;              ///< its name; its GUID where nobody knows that
  std::string_view name;                  ///< "Provider/Task/Opcode"
  const PayloadSchema* schema = nullptr;  ///< null or empty: the capture does not say
  std::span<const std::byte> payload;
  unsigned pointer_size = 8;
};

/// Takes events as they are recorded, of the providers that it wants.
class PayloadSink {
 public:
  PayloadSink() = default;
  PayloadSink(const PayloadSink&) = delete;
  PayloadSink& operator=(const PayloadSink&) = delete;
  virtual ~PayloadSink() = default;

  /// By name or GUID. The answer for a provider never changes.
  virtual bool wants(std::string_view provider) = 0;

  /// In the order of the file. Errors end the reading.
  virtual Status event(const PayloadEvent& event) = 0;

  /// Descriptions that come after the events which they describe: a capture with such is read
  /// twice.
  [[nodiscard]] PayloadSchemas& schemas() { return schemas_; }

 private:
  PayloadSchemas schemas_;
};

}  // namespace stackpack::capture
