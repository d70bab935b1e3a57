// Messages of JSON-RPC 2.0 (https://www.jsonrpc.org/specification), as a server takes them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <streambuf>
#include <string>
#include <string_view>

#include "core/rapid_json.h"

namespace stackpack::app {

using core::JsonDocument;
using core::JsonValue;

/// Codes of JSON-RPC 2.0, section 5.1.
enum class RpcCode : std::int16_t {
  kNone = 0,
  kParseError = -32700,
  kInvalidRequest = -32600,
  kMethodNotFound = -32601,
  kInvalidParams = -32602,
  kInternalError = -32603,
};

/// One message of a client: a request, a notification, or something that is neither.
class RpcMessage {
 public:
  /// Arrays and objects inside each other, of a message that is read.
  static constexpr std::size_t kDeepest = 64;

  /// Any bytes are good: what is wrong with them is in code() and problem(). Memory: a small
  /// multiple of the line; no recursion.
  explicit RpcMessage(std::string_view line);
  RpcMessage(const RpcMessage&) = delete;
  RpcMessage& operator=(const RpcMessage&) = delete;
  ~RpcMessage() = default;

  [[nodiscard]] RpcCode code() const { return code_; }
  [[nodiscard]] const std::string& problem() const { return problem_; }
  /// As JSON, to be given back as it is; `null` where none can be read.
  [[nodiscard]] const std::string& id() const { return id_; }
  /// A message that is not answered: it has no id.
  [[nodiscard]] bool is_notification() const { return is_notification_; }
  [[nodiscard]] std::string_view method() const { return method_; }
  /// An object, or null where there are none. Lives as long as this.
  [[nodiscard]] const JsonValue& params() const { return *params_; }

 private:
  void fail(RpcCode code, std::string problem);
  void take_id();

  JsonDocument json_;
  JsonValue nothing_;
  const JsonValue* params_ = &nothing_;
  std::string id_ = "null";
  std::string method_;
  std::string problem_;
  RpcCode code_ = RpcCode::kNone;
  bool is_notification_ = false;
};

/// A member of an object, or null: of what is no object, too.
const JsonValue* member_of(const JsonValue& object, std::string_view name);

/// A text without looking at its end: it may hold zeros.
inline std::string_view text_of(const JsonValue& text) {
  return {text.GetString(), text.GetStringLength()};
}

/// Lines of a stream whose other end is not trusted: however long a line is, kMostBytes of it are
/// in memory.
class MessageLines {
 public:
  static constexpr std::size_t kMostBytes = std::size_t{256} << 10;

  enum class Kind : std::uint8_t {
    kLine,
    kTooLong,  ///< the line was passed over
    kEnd,
  };

  /// The stream must outlive this.
  explicit MessageLines(std::streambuf& stream) : stream_(stream) {}

  /// The next line that has more than blanks, without its end, into `line`. The last one need not
  /// have an end.
  Kind next(std::string& line);

 private:
  std::streambuf& stream_;
};

}  // namespace stackpack::app
