// Method events of .NET, JScript and V8.
#include "formats/etl/names/method_events.h"

#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "formats/dotnet/method_payload.h"
#include "support/etl_reading.h"
#include "support/recorded_functions.h"

namespace stackpack::test {
namespace {

constexpr etl::Guid kRuntime = etl::make_guid(0xe13c0d23, 0xccbc, 0x4e12, 0x931b, 0xd9cc2eee27e4);
constexpr etl::Guid kRundown = etl::make_guid(0xa669021c, 0xc450, 0x4609, 0xa035, 0x5af59af4df18);
constexpr etl::Guid kScript = etl::make_guid(0x57277741, 0x3638, 0x4a4b, 0xbdba, 0x0ac6e45da56c);

struct MethodPayload {
  std::uint64_t id = 1;
  std::uint64_t start = 0x10000000;
  std::uint32_t size = 0x100;
  std::uint8_t version = 1;
  std::uint64_t code_version = 0;
  std::size_t tail = 0;
};

TestBytes method(const MethodPayload& m, std::string_view space, std::string_view name,
                 std::string_view signature) {
  TestBytes bytes;
  bytes.u64(m.id).u64(9).u64(m.start).u32(m.size).u32(0x06000001).u32(8);
  put_wide(bytes, space);
  put_wide(bytes, name);
  put_wide(bytes, signature);
  if (m.version >= 1) {
    bytes.u16(9);
  }
  if (m.version >= 2) {
    bytes.u64(m.code_version);
  }
  return bytes.zeros(m.tail);
}

etl::EventView event_of(const etl::Guid& provider, std::uint16_t id, std::uint8_t version,
                        const TestBytes& payload, std::uint8_t pointer_size = 8) {
  etl::EventView event;
  event.cls = etl::EventClass::kProvider;
  event.guid = provider;
  event.id = id;
  event.version = version;
  event.pid = 100;
  event.pointer_size = pointer_size;
  event.payload = payload.bytes;
  return event;
}

TEST_SUITE_BEGIN("etl method events");

TEST_CASE("events of the two providers say what happens to a method") {
  using etl::MethodRole;
  struct Case {
    etl::Guid provider;
    std::uint16_t id;
    MethodRole role;
  };
  const Case cases[] = {
      {kRuntime, 143, MethodRole::kLoad},          {kRuntime, 144, MethodRole::kUnload},
      {kRuntime, 139, MethodRole::kRundownStart},  {kRuntime, 140, MethodRole::kRundownEnd},
      {kRundown, 143, MethodRole::kRundownStart},  {kRundown, 144, MethodRole::kRundownEnd},
      {kRundown, 139, MethodRole::kNone},          {kRuntime, 141, MethodRole::kNone},
      {kRuntime, 145, MethodRole::kNone},          {kScript, 9, MethodRole::kScriptLoad},
      {kScript, 10, MethodRole::kScriptUnload},    {kScript, 5, MethodRole::kScriptRundownStart},
      {kScript, 6, MethodRole::kScriptRundownEnd}, {kScript, 143, MethodRole::kNone},
      {kRuntime, 152, MethodRole::kModule},        {kRundown, 154, MethodRole::kModule}};
  for (const Case& c : cases) {
    CAPTURE(c.id);
    etl::EventView event = event_of(c.provider, c.id, 1, TestBytes());
    CHECK(etl::method_role(event) == c.role);
    event.cls = etl::EventClass::kClass;
    CHECK(etl::method_role(event) == MethodRole::kNone);
  }
}

TEST_CASE("a method is called by namespace, name and what it takes") {
  struct Case {
    std::string_view space;
    std::string_view name;
    std::string_view signature;
    std::string_view expected;
  };
  const Case cases[] = {
      {"N.A", "a", "void ()", "N.A.a()"},
      {"N.B", "b", "instance class X (int32,class Y)", "N.B.b(int32,class Y)"},
      {"", "Main", "void  (class System.String[])", "Main(class System.String[])"},
      {"N.F", "f", "", "N.F.f"},
      {"N.F", "f", "no parenthesis", "N.F.f"},
      {"NULL", "@Box", "", "NULL.@Box"},
      {"N(1)", "f(x)", "int ()", "N(1).f(x)()"},
      {"", "", "", ""}};
  etl::MethodReader reader;
  for (const Case& c : cases) {
    CAPTURE(c.expected);
    for (const std::uint8_t version : {std::uint8_t{0}, std::uint8_t{1}, std::uint8_t{2}}) {
      MethodPayload shape;
      shape.version = version;
      const TestBytes payload = method(shape, c.space, c.name, c.signature);
      capture::FunctionFact fact;
      REQUIRE(reader.read(event_of(kRuntime, 143, version, payload), etl::MethodRole::kLoad, fact));
      CHECK(fact.name == c.expected);
      CHECK(fact.start == 0x10000000);
      CHECK(fact.size == 0x100);
      CHECK(fact.pid == 100);
      CHECK(fact.news == capture::FunctionNews::kBegins);
      CHECK(fact.source == FunctionSource::kClr);
    }
  }
}

TEST_CASE("versions of a method's code are told apart, and newer events are read") {
  etl::MethodReader reader;
  const auto id_of = [&](const MethodPayload& shape) {
    const TestBytes payload = method(shape, "N", "m", "void ()");
    capture::FunctionFact fact;
    REQUIRE(
        reader.read(event_of(kRuntime, 143, shape.version, payload), etl::MethodRole::kLoad, fact));
    CHECK(fact.name == "N.m()");
    return fact.id;
  };
  MethodPayload plain;
  MethodPayload second = plain;
  second.version = 2;
  CHECK(id_of(plain) == id_of(second));
  second.code_version = 3;
  CHECK(id_of(plain) != id_of(second));
  MethodPayload newer = second;
  newer.version = 7;
  newer.tail = 5;
  CHECK(id_of(newer) == id_of(second));
}

TEST_CASE("a name that is read later is the one that is read at once") {
  etl::MethodReader reader;
  for (const std::uint8_t version : {std::uint8_t{0}, std::uint8_t{1}, std::uint8_t{2}}) {
    CAPTURE(int{version});
    MethodPayload shape;
    shape.version = version;
    shape.code_version = 5;
    const TestBytes payload = method(shape, "N.A", "a", "void (int32)");
    const etl::EventView event = event_of(kRuntime, 143, version, payload);
    capture::FunctionFact later;
    REQUIRE(etl::MethodReader::read_all_but_name(event, etl::MethodRole::kLoad, later));
    std::string name;
    REQUIRE(dotnet::read_method_name(event.payload, name));
    capture::FunctionFact at_once;
    REQUIRE(reader.read(event, etl::MethodRole::kLoad, at_once));
    CHECK(name == at_once.name);
    CHECK(name == "N.A.a(int32)");
    CHECK(later.name.empty());
    CHECK(later.id == at_once.id);
    CHECK(later.start == at_once.start);
    CHECK(later.size == at_once.size);
    CHECK(later.pid == at_once.pid);
    CHECK(later.news == at_once.news);
    CHECK(later.source == at_once.source);
  }
}

TEST_CASE("payloads that do not end as those of their version are not left for later") {
  const auto for_later = [](const MethodPayload& shape, std::uint8_t version) {
    const TestBytes payload = method(shape, "N", "m", "void ()");
    capture::FunctionFact fact;
    return etl::MethodReader::read_all_but_name(event_of(kRuntime, 143, version, payload),
                                                etl::MethodRole::kLoad, fact);
  };
  CHECK(for_later({}, 1));
  CHECK_FALSE(for_later({.version = 1, .tail = 1}, 1));
  CHECK_FALSE(for_later({.version = 0}, 1));
  CHECK_FALSE(for_later({.version = 2}, 3));
  TestBytes cut = method({.version = 0}, "N", "m", "void ()");
  cut.bytes.resize(cut.bytes.size() - 2);
  capture::FunctionFact fact;
  CHECK_FALSE(etl::MethodReader::read_all_but_name(event_of(kRuntime, 143, 0, cut),
                                                   etl::MethodRole::kLoad, fact));
}

TEST_CASE("no prefix of a payload names a method") {
  const MethodPayload shape{.version = 0};
  const TestBytes whole = method(shape, "Space", "method", "void (int32)");
  etl::MethodReader reader;
  capture::FunctionFact fact;
  for (std::size_t size = 0; size < whole.bytes.size(); ++size) {
    CAPTURE(size);
    etl::EventView event = event_of(kRuntime, 143, 0, whole);
    event.payload = event.payload.first(size);
    CHECK_FALSE(reader.read(event, etl::MethodRole::kLoad, fact));
  }
  CHECK(reader.read(event_of(kRuntime, 143, 0, whole), etl::MethodRole::kLoad, fact));
}

TEST_CASE("texts that are not ASCII become UTF-8, lone surrogates are replaced") {
  TestBytes payload;
  payload.u64(1).u64(9).u64(0x1000).u32(16).u32(1).u32(8);
  constexpr std::uint16_t kUnits[] = {'a', 'b', 'c', 'd', 0xE9,   0x20AC, 0xD83D, 0xDE00,
                                      'e', 'f', 'g', 'h', 0xDC00, 0xD800, 0};
  for (const std::uint16_t unit : kUnits) {
    payload.u16(unit);
  }
  payload.u16('m').u16(0).u16('(').u16(')').u16(0);
  etl::MethodReader reader;
  capture::FunctionFact fact;
  REQUIRE(reader.read(event_of(kRuntime, 143, 0, payload), etl::MethodRole::kLoad, fact));
  CHECK(fact.name == "abcd\u00e9\u20ac\U0001F600efgh\ufffd\ufffd.m()");
}

TEST_CASE("functions of scripts are read in processes of both pointer sizes") {
  etl::MethodReader reader;
  for (const std::uint8_t pointer_size : {std::uint8_t{4}, std::uint8_t{8}}) {
    CAPTURE(int{pointer_size});
    TestBytes payload;
    const auto pointer = [&](std::uint64_t value) {
      pointer_size == 4 ? payload.u32(static_cast<std::uint32_t>(value)) : payload.u64(value);
    };
    pointer(0x77);
    pointer(0x5000);
    payload.u64(0x20).u32(4).u16(0).u16(2).u64(5).u32(12).u32(3);
    put_wide(payload, "foo");
    capture::FunctionFact fact;
    REQUIRE(reader.read(event_of(kScript, 10, 0, payload, pointer_size),
                        etl::MethodRole::kScriptUnload, fact));
    CHECK(fact.name == "foo");
    CHECK(fact.start == 0x5000);
    CHECK(fact.size == 0x20);
    CHECK(fact.line == 12);
    CHECK(fact.id == 4);
    CHECK(fact.news == capture::FunctionNews::kEnds);
    CHECK(fact.source == FunctionSource::kJScript);
    for (std::size_t size = 0; size < payload.bytes.size(); ++size) {
      etl::EventView event = event_of(kScript, 9, 0, payload, pointer_size);
      event.payload = event.payload.first(size);
      CHECK_FALSE(reader.read(event, etl::MethodRole::kScriptLoad, fact));
    }
  }
}

TEST_CASE("the recorder hears of the methods of a trace, and damaged events are counted") {
  const auto reading = read_etl(make_etl({}, [](EtlWriter& writer) {
    writer.provider(0, 1'000'100, kRuntime, 143, 0, 1, 101, 100, method({}, "N", "m", "void ()"));
    writer.provider(0, 1'000'200, kRuntime, 143, 0, 1, 101, 100, TestBytes().zeros(20));
    writer.provider(1, 1'000'300, kRundown, 144, 0, 1, 101, 100,
                    method({.id = 2, .start = 0x9000}, "N", "n", "void ()"));
    writer.provider(1, 1'000'400, kRuntime, 145, 0, 1, 101, 100, TestBytes().zeros(20));
  }));
  REQUIRE_FALSE(reading->failed);
  CHECK(reading->sink.system_facts.functions().facts() == 2);
  CHECK(reading->loss("bad_method_events") == 1);
  CHECK(reading->accounted());
  const auto tables = reading->sink.system_facts.finish();
  std::vector<std::string> names;
  const auto done = reading->sink.system_facts.functions().finish(
      tables, [](const capture::RecordedFunction&) { return true; },
      [&](const capture::RecordedFunction& function) -> Status {
        names.push_back(std::to_string(function.pid) + " " + std::string(function.name));
        return {};
      });
  REQUIRE(done.has_value());
  CHECK(names == std::vector<std::string>{"100 N.n()", "100 N.m()"});
}

TEST_CASE("code that a runtime made is of its assembly where it occurs, code of images is not") {
  const auto module = [](std::uint64_t id, std::string_view path) {
    TestBytes bytes;
    bytes.u64(id).u64(1).u32(0).u32(0);
    put_wide(bytes, path);
    put_wide(bytes, "");
    return bytes;
  };
  const auto reading = read_etl(make_etl({}, [&](EtlWriter& writer) {
    writer.provider(0, 1'000'100, kRuntime, 152, 2, 1, 101, 100, module(9, "C:\\app\\App.dll"));
    writer.provider(0, 1'000'200, kRuntime, 143, 0, 1, 101, 100,
                    method({.id = 1, .start = 0x10000}, "N", "m", "void ()"));
    writer.provider(0, 1'000'300, kRundown, 144, 0, 1, 101, 100,
                    method({.id = 2, .start = 0x20000}, "N", "unseen", "void ()"));
    writer.provider(0, 1'000'400, kRuntime, 143, 0, 1, 101, 100,
                    method({.id = 3, .start = 0x30000}, "N", "native", "void ()"));
    // Of another process, whose modules have numbers of their own.
    writer.provider(0, 1'000'500, kRuntime, 143, 0, 1, 201, 200,
                    method({.id = 4, .start = 0x10000}, "N", "other", "void ()"));
    writer.provider(0, 1'000'600, kRundown, 154, 2, 1, 201, 200, TestBytes().zeros(24));
  }));
  REQUIRE_FALSE(reading->failed);
  CHECK(reading->accounted());
  Module image;
  image.pid = 100;
  image.base = 0x28000;
  image.size = 0x9000;
  image.path = "native.dll";
  reading->sink.system_facts.module_mapped(image);
  reading->sink.system_facts.map_code([](std::uint64_t first, std::uint64_t last) {
    return first == 0x30000 || (first <= 0x10100 && 0x10100 <= last);  // a return address
  });
  const auto tables = reading->sink.system_facts.finish();
  REQUIRE(tables.modules.size() == 2);
  CHECK(tables.modules[1].path == "native.dll");
  CHECK(tables.modules[0].path == "C:\\app\\App.dll");
  CHECK(tables.modules[0].pid == 100);
  CHECK(tables.modules[0].base == 0x10000);
  CHECK(tables.modules[0].size == 0x100);
}

TEST_CASE("names that are in the trace as they are, are read there in the end") {
  // A name that ends, but whose namespace does not: who does not need it does not notice.
  TestBytes damaged = method({.id = 3, .start = 0xA000}, "N", "o", "void ()");
  damaged.bytes[36 + 2] = std::byte{'x'};
  const std::vector<std::byte> file = make_etl({}, [&](EtlWriter& writer) {
    writer.provider(0, 1'000'100, kRuntime, 143, 0, 1, 101, 100, method({}, "N", "m", "void ()"));
    writer.provider(1, 1'000'300, kRundown, 144, 0, 1, 101, 100,
                    method({.id = 2, .start = 0x9000}, "N", "n", "void ()"));
    writer.provider(1, 1'000'400, kRuntime, 143, 0, 1, 101, 100, damaged);
  });
  const auto source = io::source_of_memory(file);
  CollectingSink sink;
  etl::ReadOptions options;
  options.source_stays = true;
  REQUIRE(etl::read_capture(*source, sink, options).has_value());
  CHECK(sink.counters.count("bad_method_events") == 0);
  std::vector<std::string> names;
  for (const NamedRange& function : functions_of(sink)) {
    names.push_back(function.name);
  }
  CHECK(names == std::vector<std::string>{"N.n()", "N.m()"});
  CHECK(sink.counters.count("bad_method_events") == 1);
}

TEST_SUITE_END();

}  // namespace
}  // namespace stackpack::test
