#include "formats/etl/names/method_events.h"

#include <optional>

#include "bytes/byte_cursor.h"
#include "formats/dotnet/method_payload.h"
#include "formats/dotnet/runtime_events.h"
#include "formats/etl/event/payload_pointer.h"
#include "formats/etl/event/windows_text.h"

namespace stackpack::etl {

namespace {

constexpr Guid kClrRuntime = make_guid(0xe13c0d23, 0xccbc, 0x4e12, 0x931b, 0xd9cc2eee27e4);
constexpr Guid kClrRundown = make_guid(0xa669021c, 0xc450, 0x4609, 0xa035, 0x5af59af4df18);
constexpr Guid kScript = make_guid(0x57277741, 0x3638, 0x4a4b, 0xbdba, 0x0ac6e45da56c);

MethodRole runtime_role(dotnet::Provider provider, std::uint16_t id) {
  const std::optional<capture::FunctionNews> news = dotnet::method_news(provider, id);
  if (!news) {
    return dotnet::is_module_event(provider, id) ? MethodRole::kModule : MethodRole::kNone;
  }
  switch (*news) {
    case capture::FunctionNews::kBegins:
      return MethodRole::kLoad;
    case capture::FunctionNews::kEnds:
      return MethodRole::kUnload;
    case capture::FunctionNews::kExists:
      return MethodRole::kRundownStart;
    default:
      return MethodRole::kRundownEnd;
  }
}

MethodRole script_role(std::uint16_t id) {
  switch (id) {
    case 5:
      return MethodRole::kScriptRundownStart;
    case 6:
      return MethodRole::kScriptRundownEnd;
    case 9:
      return MethodRole::kScriptLoad;
    case 10:
      return MethodRole::kScriptUnload;
    default:
      return MethodRole::kNone;
  }
}

bool is_script(MethodRole role) {
  return role >= MethodRole::kScriptLoad;
}

capture::FunctionNews news_of(MethodRole role) {
  switch (role) {
    case MethodRole::kLoad:
    case MethodRole::kScriptLoad:
      return capture::FunctionNews::kBegins;
    case MethodRole::kUnload:
    case MethodRole::kScriptUnload:
      return capture::FunctionNews::kEnds;
    case MethodRole::kRundownStart:
    case MethodRole::kScriptRundownStart:
      return capture::FunctionNews::kExists;
    default:
      return capture::FunctionNews::kExisted;
  }
}

void begin_fact(const EventView& event, MethodRole role, capture::FunctionFact& fact) {
  fact = {};
  fact.owner = FunctionOwner::kProcess;
  fact.pid = event.pid;
  fact.news = news_of(role);
}

}  // namespace

MethodRole method_role(const EventView& event) {
  if (event.cls != EventClass::kProvider) {
    return MethodRole::kNone;
  }
  if (event.guid == kClrRuntime) {
    return runtime_role(dotnet::Provider::kRuntime, event.id);
  }
  if (event.guid == kClrRundown) {
    return runtime_role(dotnet::Provider::kRundown, event.id);
  }
  return event.guid == kScript ? script_role(event.id) : MethodRole::kNone;
}

bool MethodReader::read(const EventView& event, MethodRole role, capture::FunctionFact& fact) {
  begin_fact(event, role, fact);
  name_.clear();
  if (is_script(role) ? !read_script(event, fact) : !read_runtime(event, fact)) {
    return false;
  }
  fact.name = name_;
  return true;
}

bool MethodReader::read_runtime(const EventView& event, capture::FunctionFact& fact) {
  return dotnet::read_method({event.payload, event.version}, fact, name_);
}

bool MethodReader::read_all_but_name(const EventView& event, MethodRole role,
                                     capture::FunctionFact& fact) {
  if (is_script(role)) {
    return false;
  }
  begin_fact(event, role, fact);
  return dotnet::read_method_but_name({event.payload, event.version}, fact);
}

bool MethodReader::read_script(const EventView& event, capture::FunctionFact& fact) {
  bytes::ByteCursor in(event.payload, event.position);
  read_pointer(in, event.pointer_size);  // script context
  fact.start = read_pointer(in, event.pointer_size);
  fact.size = in.read<std::uint64_t>();
  fact.id = in.read<std::uint32_t>();
  in.skip(12);  // flags, address range, source
  fact.line = in.read<std::uint32_t>();
  in.skip(4);  // column
  fact.source = FunctionSource::kJScript;
  return append_wide_text(in, name_) && in.ok();
}

}  // namespace stackpack::etl
