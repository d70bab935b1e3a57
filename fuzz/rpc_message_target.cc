// Messages of a client: whatever the bytes, each line ends well, and what is given back as an id is
// JSON.
#include <cstdlib>
#include <span>
#include <sstream>
#include <string>

#include "app/mcp/rpc_message.h"

namespace stackpack::fuzz {

void rpc_message(std::span<const std::byte> data) {
  std::string text;
  for (const std::byte byte : data) {
    text.push_back(static_cast<char>(byte));
  }
  std::stringbuf stream(text);
  app::MessageLines lines(stream);
  std::string line;
  for (auto kind = lines.next(line); kind != app::MessageLines::Kind::kEnd;
       kind = lines.next(line)) {
    const app::RpcMessage message(line);
    app::JsonDocument id;
    id.Parse(message.id().data(), message.id().size());
    const bool good = message.code() == app::RpcCode::kNone;
    if (id.HasParseError() || good != message.problem().empty() ||
        (good && !message.params().IsNull() && !message.params().IsObject())) {
      std::abort();
    }
  }
}

}  // namespace stackpack::fuzz
