#include "formats/etl/names/method_events.h"

#include <array>

#include "bytes/byte_cursor.h"
#include "core/index_table.h"
#include "formats/etl/event/payload_pointer.h"
#include "formats/etl/event/windows_text.h"

namespace stackpack::etl {

namespace {

constexpr Guid kClrRuntime = make_guid(0xe13c0d23, 0xccbc, 0x4e12, 0x931b, 0xd9cc2eee27e4);
constexpr Guid kClrRundown = make_guid(0xa669021c, 0xc450, 0x4609, 0xa035, 0x5af59af4df18);
constexpr std::size_t kMethodHeadBytes = 36;  // of the payload of a .NET method, before the texts
constexpr Guid kScript = make_guid(0x57277741, 0x3638, 0x4a4b, 0xbdba, 0x0ac6e45da56c);

MethodRole runtime_role(std::uint16_t id) {
  switch (id) {
    case 139:
      return MethodRole::kRundownStart;
    case 140:
      return MethodRole::kRundownEnd;
    case 143:
      return MethodRole::kLoad;
    case 144:
      return MethodRole::kUnload;
    default:
      return MethodRole::kNone;
  }
}

MethodRole rundown_role(std::uint16_t id) {
  switch (id) {
    case 143:
      return MethodRole::kRundownStart;
    case 144:
      return MethodRole::kRundownEnd;
    default:
      return MethodRole::kNone;
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

// What comes before the texts; the number of the method.
std::uint64_t read_head(bytes::ByteCursor& in, capture::FunctionFact& fact) {
  const auto method = in.read<std::uint64_t>();
  in.read<std::uint64_t>();  // module
  fact.start = in.read<std::uint64_t>();
  fact.size = in.read<std::uint32_t>();
  in.read<std::uint64_t>();  // token, flags
  fact.source = FunctionSource::kClr;
  return method;
}

bool read_texts(bytes::ByteCursor& in, std::string& name) {
  name.clear();
  const bool has_namespace = append_wide_text(in, name);
  if (!name.empty()) {
    name += '.';
  }
  const bool has_name = append_wide_text(in, name);
  // Of the signature, what the method takes: what it returns comes before the parenthesis.
  const std::size_t before = name.size();
  const bool has_signature = append_wide_text(in, name);
  const std::size_t parenthesis = name.find('(', before);
  name.erase(before, parenthesis == std::string::npos ? parenthesis : parenthesis - before);
  return in.ok() && has_namespace && has_name && has_signature;
}

// Whether the texts of the payload end where they should, if nothing follows that is not known.
bool ends_with_text(std::span<const std::byte> payload, std::size_t tail) {
  constexpr std::size_t kLeast = kMethodHeadBytes + 3 * sizeof(std::uint16_t);
  if (payload.size() < kLeast + tail || (payload.size() - tail) % 2 != 0) {
    return false;
  }
  const std::span<const std::byte> end = payload.last(tail + 2);
  return end[0] == std::byte{0} && end[1] == std::byte{0};
}

}  // namespace

MethodRole method_role(const EventView& event) {
  if (event.cls != EventClass::kProvider) {
    return MethodRole::kNone;
  }
  if (event.guid == kClrRuntime) {
    return runtime_role(event.id);
  }
  if (event.guid == kClrRundown) {
    return rundown_role(event.id);
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
  bytes::ByteCursor in(event.payload, event.position);
  const std::uint64_t method = read_head(in, fact);
  if (!read_texts(in, name_)) {
    return false;
  }
  in.skip(event.version >= 1 ? 2U : 0U);  // runtime instance
  const std::uint64_t version =
      event.version >= 2 && in.remaining() >= 8 ? in.read<std::uint64_t>() : std::uint64_t{0};
  fact.id = core::mix_bits(method) ^ version;
  return true;
}

bool MethodReader::read_all_but_name(const EventView& event, MethodRole role,
                                     capture::FunctionFact& fact) {
  // What follows the texts: the instance of the runtime, the version of the code.
  constexpr std::array<std::size_t, 3> kTails = {0, 2, 10};
  if (event.version >= kTails.size() || is_script(role) ||
      !ends_with_text(event.payload, kTails[event.version])) {
    return false;
  }
  begin_fact(event, role, fact);
  bytes::ByteCursor in(event.payload, event.position);
  fact.id = core::mix_bits(read_head(in, fact));
  if (event.version == 2) {
    in.seek(event.payload.size() - sizeof(std::uint64_t));
    fact.id ^= in.read<std::uint64_t>();
  }
  return in.ok();
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

bool read_method_name(std::span<const std::byte> payload, std::string& name) {
  bytes::ByteCursor in(payload, 0);
  in.skip(kMethodHeadBytes);
  return read_texts(in, name);
}

}  // namespace stackpack::etl
