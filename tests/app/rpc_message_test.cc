#include "app/mcp/rpc_message.h"

#include <sstream>
#include <string>

#include <doctest/doctest.h>

namespace stackpack::app {

namespace {

struct BadMessage {
  std::string line;
  RpcCode code;
  std::string id;
};

}  // namespace

TEST_CASE("rpc message: a request keeps its id as it came, and its parameters") {
  const RpcMessage message(R"({"jsonrpc":"2.0","id":"a\"b","method":"ping","params":{"x":[1]}})");
  CHECK(message.code() == RpcCode::kNone);
  CHECK(message.id() == R"("a\"b")");
  CHECK(message.method() == "ping");
  CHECK(!message.is_notification());
  REQUIRE(member_of(message.params(), "x") != nullptr);
  CHECK(member_of(message.params(), "y") == nullptr);
  CHECK(member_of(*member_of(message.params(), "x"), "x") == nullptr);
}

TEST_CASE("rpc message: without an id it is a notification") {
  const RpcMessage message(R"({"jsonrpc":"2.0","method":"notifications/initialized"})");
  CHECK(message.code() == RpcCode::kNone);
  CHECK(message.is_notification());
  CHECK(message.params().IsNull());
}

TEST_CASE("rpc message: what is wrong has the code of the specification") {
  const BadMessage messages[] = {
      {"{", RpcCode::kParseError, "null"},
      {"\xff", RpcCode::kParseError, "null"},
      {R"({"jsonrpc":"2.0","id":1,"method":")"
       "\xff"
       R"("})",
       RpcCode::kParseError, "null"},
      {"[]", RpcCode::kInvalidRequest, "null"},
      {"17", RpcCode::kInvalidRequest, "null"},
      {R"({"jsonrpc":"2.0","id":[],"method":"ping"})", RpcCode::kInvalidRequest, "null"},
      {R"({"jsonrpc":"2.0","id":1.5,"method":"ping"})", RpcCode::kInvalidRequest, "null"},
      {R"({"jsonrpc":"2.0","id":")" + std::string(257, 'i') + R"(","method":"ping"})",
       RpcCode::kInvalidRequest, "null"},
      {R"({"jsonrpc":"1.0","id":7,"method":"ping"})", RpcCode::kInvalidRequest, "7"},
      {R"({"jsonrpc":"2.0","id":7,"method":3})", RpcCode::kInvalidRequest, "7"},
      {R"({"jsonrpc":"2.0","id":7,"method":"ping","params":[]})", RpcCode::kInvalidParams, "7"},
  };
  for (const BadMessage& bad : messages) {
    CAPTURE(bad.line);
    const RpcMessage message(bad.line);
    CHECK(message.code() == bad.code);
    CHECK(message.id() == bad.id);
    CHECK(!message.problem().empty());
  }
}

TEST_CASE("rpc message: 64 levels are read, more are not; brackets in texts do not count") {
  const auto nested = [](std::size_t levels) {
    return R"({"jsonrpc":"2.0","id":1,"method":"m","params":{"x":)" + std::string(levels, '[') +
           std::string(levels, ']') + "}}";
  };
  CHECK(RpcMessage(nested(62)).code() == RpcCode::kNone);
  CHECK(RpcMessage(nested(63)).code() == RpcCode::kInvalidRequest);
  CHECK(RpcMessage(std::string(200'000, '[')).code() == RpcCode::kInvalidRequest);
  CHECK(RpcMessage(R"({"jsonrpc":"2.0","id":1,"method":"\")" + std::string(100, '[') + R"("})")
            .code() == RpcCode::kNone);
}

TEST_CASE("message lines: long lines are passed over, empty ones skipped, the last needs no end") {
  const std::string longest(MessageLines::kMostBytes, 'x');
  std::stringbuf stream("\n  \r\n" + longest + "\n" + longest + "x\nlast");
  MessageLines lines(stream);
  std::string line;
  CHECK(lines.next(line) == MessageLines::Kind::kLine);
  CHECK(line == longest);
  CHECK(lines.next(line) == MessageLines::Kind::kTooLong);
  CHECK(line.empty());
  CHECK(lines.next(line) == MessageLines::Kind::kLine);
  CHECK(line == "last");
  CHECK(lines.next(line) == MessageLines::Kind::kEnd);
}

}  // namespace stackpack::app
