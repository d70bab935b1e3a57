// The Model Context Protocol over a stream of lines, https://modelcontextprotocol.io/specification,
// of which tools alone are offered.
#pragma once

#include <string>
#include <string_view>

#include "app/mcp/rpc_message.h"
#include "cli/mcp/mcp_session.h"

namespace stackpack::cli {

class McpServer {
 public:
  explicit McpServer(McpSession session) : session_(std::move(session)) {}

  /// The answer to a message as one line without its end; empty: there is none.
  std::string answer(std::string_view line);
  /// The answer to a line that is too long to be read.
  static std::string answer_to_long_line();

 private:
  std::string answer_request(const app::RpcMessage& message);
  std::string call_tool(const app::RpcMessage& message);

  McpSession session_;
  bool structured_ = false;  // the client has a version of the protocol with structuredContent
};

}  // namespace stackpack::cli
