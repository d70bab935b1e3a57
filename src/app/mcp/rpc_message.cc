#include "app/mcp/rpc_message.h"

#include <algorithm>
#include <utility>

namespace stackpack::app {

namespace {

// How deep brackets go that are outside of texts. Of what is no JSON it means nothing.
std::size_t depth_of(std::string_view line) {
  std::size_t depth = 0;
  std::size_t deepest = 0;
  bool in_text = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char letter = line[i];
    if (in_text) {
      i += letter == '\\' ? 1U : 0U;
      in_text = letter != '"';
    } else if (letter == '"') {
      in_text = true;
    } else if (letter == '[' || letter == '{') {
      deepest = std::max(deepest, ++depth);
    } else if ((letter == ']' || letter == '}') && depth != 0) {
      --depth;
    }
  }
  return deepest;
}

std::string text_as_json(const JsonValue& value) {
  std::string text;
  core::JsonTextStream stream(text);
  core::JsonWriter<core::JsonTextStream> writer(stream);
  value.Accept(writer);
  return text;
}

}  // namespace

const JsonValue* member_of(const JsonValue& object, std::string_view name) {
  if (!object.IsObject()) {
    return nullptr;
  }
  const auto found =
      std::find_if(object.MemberBegin(), object.MemberEnd(),
                   [name](const auto& member) { return text_of(member.name) == name; });
  return found == object.MemberEnd() ? nullptr : &found->value;
}

void RpcMessage::fail(RpcCode code, std::string problem) {
  code_ = code;
  problem_ = std::move(problem);
}

// Texts and whole numbers; a client that sends another id could not tell its answers apart.
void RpcMessage::take_id() {
  constexpr std::size_t kLongestId = 256;
  const JsonValue* const id = member_of(json_, "id");
  is_notification_ = id == nullptr;
  if (id == nullptr) {
    return;
  }
  const bool good =
      (id->IsString() && id->GetStringLength() <= kLongestId) || id->IsInt64() || id->IsUint64();
  if (good) {
    id_ = text_as_json(*id);
  } else {
    fail(RpcCode::kInvalidRequest, "id is neither a whole number nor a text of at most 256 bytes");
  }
}

RpcMessage::RpcMessage(std::string_view line) {
  if (depth_of(line) > kDeepest) {
    fail(RpcCode::kInvalidRequest, "more than 64 levels of arrays and objects");
    return;
  }
  constexpr unsigned kFlags =
      rapidjson::kParseIterativeFlag | rapidjson::kParseValidateEncodingFlag;
  json_.Parse<kFlags>(line.data(), line.size());
  if (json_.HasParseError()) {
    fail(RpcCode::kParseError, "invalid JSON at byte " + std::to_string(json_.GetErrorOffset()));
    return;
  }
  if (!json_.IsObject()) {
    fail(RpcCode::kInvalidRequest, "not an object; batches are not taken");
    return;
  }
  take_id();
  const JsonValue* const version = member_of(json_, "jsonrpc");
  const JsonValue* const method = member_of(json_, "method");
  const JsonValue* const params = member_of(json_, "params");
  if (code_ != RpcCode::kNone) {
    return;
  }
  if (version == nullptr || !version->IsString() || text_of(*version) != "2.0") {
    fail(RpcCode::kInvalidRequest, "jsonrpc is not \"2.0\"");
  } else if (method == nullptr || !method->IsString()) {
    fail(RpcCode::kInvalidRequest, "no method");
  } else if (params != nullptr && !params->IsObject()) {
    fail(RpcCode::kInvalidParams, "params is not an object");
  } else {
    method_ = text_of(*method);
    params_ = params != nullptr ? params : &nothing_;
  }
}

MessageLines::Kind MessageLines::next(std::string& line) {
  using Traits = std::streambuf::traits_type;
  line.clear();
  bool too_long = false;
  bool blank = true;
  while (true) {
    const Traits::int_type taken = stream_.sbumpc();
    const bool end = Traits::eq_int_type(taken, Traits::eof());
    const char letter = end ? '\n' : Traits::to_char_type(taken);
    if (letter != '\n') {
      blank = blank && (letter == ' ' || letter == '\t' || letter == '\r');
      too_long = too_long || line.size() == kMostBytes;
      if (!too_long) {
        line.push_back(letter);
      }
      continue;
    }
    if (too_long) {
      line.clear();
      return Kind::kTooLong;
    }
    if (!blank) {
      return Kind::kLine;
    }
    line.clear();
    if (end) {
      return Kind::kEnd;
    }
  }
}

}  // namespace stackpack::app
