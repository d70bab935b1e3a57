// Layout: https://llvm.org/docs/PDB/TpiStream.html and Microsoft's cvinfo.h (lfFuncId, lfClass).
#include "symbolize/pdb/type_names.h"

#include <optional>
#include <set>
#include <vector>

#include "symbolize/pdb/codeview_kinds.h"

namespace stackpack::symbolize {

namespace {

constexpr std::uint32_t kTypeStream = 2;
constexpr std::uint32_t kItemStream = 4;
constexpr std::uint64_t kTypeHeaderSize = 56;

struct FunctionItem {
  std::uint32_t scope = 0;  // item or type; 0: none
  bool member = false;      // the scope is a type
  std::string name;
};

// Calls visit(number, record) for those of the wanted records that are there.
template <typename Visit>
Status each_numbered_record(const MsfFile& file, std::uint32_t stream,
                            const std::set<std::uint32_t>& wanted, const Visit& visit) {
  if (wanted.empty() || file.stream_size(stream) < kTypeHeaderSize) {
    return {};
  }
  std::vector<std::byte> head;
  if (const Status read = file.read(stream, 0, kTypeHeaderSize, head); !read) {
    return read;
  }
  bytes::ByteCursor in(head, file.file_offset(stream, 0));
  in.skip(4);  // version
  const auto header_size = in.read<std::uint32_t>();
  std::uint32_t number = in.read<std::uint32_t>();
  in.skip(4);  // one more than the last number
  const std::uint64_t record_bytes = in.read<std::uint32_t>();
  auto next = wanted.lower_bound(number);
  return each_pdb_record(file, stream, header_size, header_size + record_bytes,
                         [&](const PdbRecord& record) {
                           if (next == wanted.end()) {
                             return false;
                           }
                           if (*next == number) {
                             visit(number, record);
                             ++next;
                           }
                           ++number;
                           return true;
                         });
}

// A number in a type: small ones as they are, others with a kind in front.
void skip_number(bytes::ByteCursor& in) {
  constexpr std::uint16_t kFirstKind = 0x8000;
  const auto first = in.read<std::uint16_t>();
  if (first < kFirstKind) {
    return;
  }
  switch (first) {
    case 0x8000:
      in.skip(1);
      break;
    case 0x8001:
    case 0x8002:
      in.skip(2);
      break;
    case 0x8003:
    case 0x8004:
      in.skip(4);
      break;
    case 0x8009:
    case 0x800A:
      in.skip(8);
      break;
    default:
      in.skip(in.remaining());
      break;
  }
}

std::string class_name(const PdbRecord& record) {
  bytes::ByteCursor in = record.body;
  switch (record.kind) {
    case codeview::kClass:
    case codeview::kStructure:
    case codeview::kInterface:
      in.skip(16);  // members, properties, lists of fields, bases and virtual functions
      skip_number(in);
      break;
    case codeview::kUnion:
      in.skip(8);
      skip_number(in);
      break;
    case codeview::kEnum:
      in.skip(12);
      break;
    default:
      return {};
  }
  return std::string(in.read_c_string());
}

using NamesByNumber = std::map<std::uint32_t, std::string>;

// The function of a record; nothing where it is another record, or has no name.
std::optional<FunctionItem> function_of(const PdbRecord& record) {
  if (record.kind != codeview::kFunctionId && record.kind != codeview::kMemberFunctionId) {
    return std::nullopt;
  }
  bytes::ByteCursor in = record.body;
  FunctionItem function;
  function.member = record.kind == codeview::kMemberFunctionId;
  function.scope = in.read<std::uint32_t>();
  in.skip(4);  // type
  function.name = in.read_c_string();
  return in.ok() && !function.name.empty() ? std::optional(std::move(function)) : std::nullopt;
}

// With the namespace or the class in front, where that is known.
std::string full_name(const FunctionItem& function, const NamesByNumber& scope_names,
                      const NamesByNumber& class_names) {
  const NamesByNumber& known = function.member ? class_names : scope_names;
  const auto scope = known.find(function.scope);
  const bool has_scope = function.scope != 0 && scope != known.end() && !scope->second.empty();
  return has_scope ? scope->second + "::" + function.name : function.name;
}

}  // namespace

Result<std::map<std::uint32_t, std::string>> inlinee_names(const MsfFile& file,
                                                           std::span<const std::uint32_t> items) {
  std::map<std::uint32_t, FunctionItem> functions;
  std::set<std::uint32_t> scopes;
  std::set<std::uint32_t> classes;
  const std::set<std::uint32_t> wanted(items.begin(), items.end());
  const auto take_function = [&](std::uint32_t number, const PdbRecord& record) {
    std::optional<FunctionItem> function = function_of(record);
    if (!function) {
      return;
    }
    if (function->scope != 0) {
      (function->member ? classes : scopes).insert(function->scope);
    }
    functions.emplace(number, std::move(*function));
  };
  if (const Status read = each_numbered_record(file, kItemStream, wanted, take_function); !read) {
    return read.error();
  }
  NamesByNumber scope_names;
  NamesByNumber class_names;
  const auto take_scope = [&](std::uint32_t number, const PdbRecord& record) {
    if (record.kind == codeview::kStringId) {
      bytes::ByteCursor in = record.body;
      in.skip(4);  // parts of a longer text
      scope_names.emplace(number, in.read_c_string());
    }
  };
  const auto take_class = [&](std::uint32_t number, const PdbRecord& record) {
    class_names.emplace(number, class_name(record));
  };
  if (const Status read = each_numbered_record(file, kItemStream, scopes, take_scope); !read) {
    return read.error();
  }
  if (const Status read = each_numbered_record(file, kTypeStream, classes, take_class); !read) {
    return read.error();
  }
  NamesByNumber names;
  for (const auto& [number, function] : functions) {
    names.emplace(number, full_name(function, scope_names, class_names));
  }
  return names;
}

}  // namespace stackpack::symbolize
