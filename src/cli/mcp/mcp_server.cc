#include "cli/mcp/mcp_server.h"

#include <algorithm>
#include <array>
#include <exception>
#include <span>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "app/mcp/rpc_message.h"
#include "app/versions.h"
#include "cli/json_text.h"
#include "core/guard.h"

namespace stackpack::cli {

namespace {

using app::JsonValue;
using app::RpcCode;

// Newest first.
constexpr std::array<std::string_view, 3> kVersions = {"2025-06-18", "2025-03-26", "2024-11-05"};

constexpr std::string_view kInstructions =
    "Profiles of programs. Begin with open, then info or summary, and top; go from a hot function "
    "to callers, callees and source. `next` in an answer lists calls that go deeper, as TOOL FILE "
    "ARGUMENT. "
    "Answers are short: rows_left_out says what is missing, the argument rows asks for more "
    "(--limit=N in next). "
    "Shares "
    "are self or total divided by weight.";

std::string result_line(const std::string& id, std::string_view result) {
  return fmt::format(R"({{"jsonrpc":"2.0","id":{},"result":{}}})", id, result);
}

std::string error_line(const std::string& id, RpcCode code, std::string_view problem) {
  std::string text;
  JsonText(text).value(problem);
  return fmt::format(R"({{"jsonrpc":"2.0","id":{},"error":{{"code":{},"message":{}}}}})", id,
                     static_cast<int>(code), text);
}

std::string_view version_for(const JsonValue& params) {
  const JsonValue* const asked = app::member_of(params, "protocolVersion");
  std::string_view version = kVersions.front();
  if (asked != nullptr && asked->IsString()) {
    const auto known = std::find(kVersions.begin(), kVersions.end(), app::text_of(*asked));
    version = known == kVersions.end() ? version : *known;
  }
  return version;
}

std::string initialized(std::string_view version) {
  std::string text;
  JsonText json(text);
  json.begin_object();
  json.field("protocolVersion", version);
  json.key("capabilities");
  json.begin_object();
  json.key("tools");
  json.begin_object();
  json.end_object();
  json.end_object();
  json.key("serverInfo");
  json.begin_object();
  json.field("name", "stackpack");
  json.field("version", app::program_version());
  json.end_object();
  json.field("instructions", kInstructions);
  json.end_object();
  return text;
}

std::string tool_result(const McpAnswer& answer, bool structured) {
  std::string text;
  JsonText json(text);
  json.begin_object();
  json.key("content");
  json.begin_array();
  json.begin_object();
  json.field("type", "text");
  json.field("text", answer.text);
  json.end_object();
  json.end_array();
  // The specification of 2025 asks for both, and clients read one of them.
  if (answer.is_object && structured) {
    json.key("structuredContent");
    json.object(std::string_view(answer.text).substr(0, answer.text.find_last_not_of('\n') + 1));
  }
  json.field("isError", answer.is_error);
  if (!answer.command.empty()) {
    json.key("_meta");
    json.begin_object();
    json.key("stackpack/command");
    json.begin_array();
    for (const std::string& word : answer.command) {
      json.value(word);
    }
    json.end_array();
    json.end_object();
  }
  json.end_object();
  return text;
}

}  // namespace

std::string McpServer::answer_to_long_line() {
  return error_line("null", RpcCode::kInvalidRequest,
                    fmt::format("a message has at most {} bytes", app::MessageLines::kMostBytes));
}

std::string McpServer::call_tool(const app::RpcMessage& message) {
  const JsonValue* const name = app::member_of(message.params(), "name");
  const JsonValue* const arguments = app::member_of(message.params(), "arguments");
  if (name == nullptr || !name->IsString()) {
    return error_line(message.id(), RpcCode::kInvalidParams, "name is not a text");
  }
  if (arguments != nullptr && !arguments->IsObject()) {
    return error_line(message.id(), RpcCode::kInvalidParams, "arguments is not an object");
  }
  const std::span<const Tool> tools = all_tools();
  const auto tool = std::find_if(tools.begin(), tools.end(), [name](const Tool& one) {
    return one.name == app::text_of(*name);
  });
  if (tool == tools.end()) {
    return error_line(message.id(), RpcCode::kInvalidParams, "no such tool");
  }
  const JsonValue none;
  auto words = words_of_call(*tool, arguments != nullptr ? *arguments : none);
  if (const auto* problem = std::get_if<std::string>(&words)) {
    return error_line(message.id(), RpcCode::kInvalidParams, *problem);
  }
  return result_line(
      message.id(),
      tool_result(session_.call(*tool, std::get<ToolWords>(std::move(words))), structured_));
}

std::string McpServer::answer_request(const app::RpcMessage& message) {
  const std::string_view method = message.method();
  if (method == "initialize") {
    const std::string_view version = version_for(message.params());
    structured_ = version == kVersions.front();
    return result_line(message.id(), initialized(version));
  }
  if (method == "ping") {
    return result_line(message.id(), "{}");
  }
  if (method == "tools/list") {
    return result_line(message.id(), tools_as_json());
  }
  if (method == "tools/call") {
    return call_tool(message);
  }
  return error_line(message.id(), RpcCode::kMethodNotFound, "no such method");
}

std::string McpServer::answer(std::string_view line) {
  const app::RpcMessage message(line);
  if (message.code() != RpcCode::kNone) {
    return error_line(message.id(), message.code(), message.problem());
  }
  if (message.is_notification()) {
    return {};
  }
  try {
    return answer_request(message);
  } catch (const std::exception&) {  // memory or threads ran out; the next call may be smaller
    return error_line(message.id(), RpcCode::kInternalError,
                      stackpack::message(core::error_of_exception()));
  }
}

}  // namespace stackpack::cli
