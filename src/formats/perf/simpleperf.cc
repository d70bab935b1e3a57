#include "formats/perf/simpleperf.h"

#include <charconv>
#include <optional>
#include <string>
#include <string_view>

#include "bytes/byte_text.h"
#include <protozero/data_view.hpp>
#include <protozero/exception.hpp>
#include <protozero/pbf_reader.hpp>

namespace stackpack::perf {

namespace {

enum FileTypes : std::uint32_t {
  kKernelImage = 0,
  kKernelModule = 1,
  kElfFile = 2,
  kDexFile = 3,
  kSymbolMap = 4,  ///< perf-PID.map
};

struct SymbolFile {
  std::string_view path;
  std::uint32_t type = kElfFile;
  std::uint64_t lowest_address = 0;
  /// Where the lowest address is in the file, or in the memory of a module.
  std::uint64_t lowest_offset = 0;
};

struct Symbol {
  std::uint64_t address = 0;
  std::uint64_t length = 0;
  std::string_view name;
};

// The N of a path that ends with `perf-N.map`.
std::optional<std::uint32_t> process_of_map(std::string_view path) {
  constexpr std::string_view kPrefix = "perf-";
  constexpr std::string_view kSuffix = ".map";
  const std::size_t slash = path.find_last_of('/');
  std::string_view name = slash == std::string_view::npos ? path : path.substr(slash + 1);
  if (!name.starts_with(kPrefix) || !name.ends_with(kSuffix)) {
    return std::nullopt;
  }
  name.remove_prefix(kPrefix.size());
  name.remove_suffix(kSuffix.size());
  std::uint32_t pid = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), pid);
  return error == std::errc() && end == name.data() + name.size() ? std::optional(pid)
                                                                  : std::nullopt;
}

// Code that was compiled at run time is a process' own, from when it was mapped on.
bool add_compiled_function(const SymbolFile& file, const Symbol& symbol, CaptureContext& context) {
  const auto add = [&](const JitMappings::Mapping& mapping) {
    capture::FunctionFact fact;
    fact.source = FunctionSource::kSimpleperf;
    fact.owner = FunctionOwner::kProcess;
    fact.pid = mapping.pid;
    fact.start = symbol.address;
    fact.size = symbol.length;
    fact.name = symbol.name;
    fact.time_ns = mapping.start_ns;
    fact.news = mapping.start_ns == kUnknownTime ? capture::FunctionNews::kExists
                                                 : capture::FunctionNews::kBegins;
    context.sink.system().functions().add(fact);
  };
  return context.jit_mappings.for_each_at(file.path, symbol.address, symbol.length, add);
}

void add_function(const SymbolFile& file, const Symbol& symbol, CaptureContext& context) {
  if (add_compiled_function(file, symbol, context)) {
    return;
  }
  capture::FunctionFact fact;
  fact.source = FunctionSource::kSimpleperf;
  fact.start = symbol.address;
  fact.size = symbol.length;
  fact.name = symbol.name;
  switch (file.type) {
    case kKernelImage:
      fact.owner = FunctionOwner::kKernel;
      break;
    case kSymbolMap: {
      const std::optional<std::uint32_t> pid = process_of_map(file.path);
      if (!pid) {
        return;
      }
      fact.owner = FunctionOwner::kProcess;
      fact.pid = *pid;
      break;
    }
    case kDexFile:  // addresses are offsets in the file
      fact.owner = FunctionOwner::kImage;
      fact.image_path = file.path;
      break;
    default:
      fact.owner = FunctionOwner::kImage;
      fact.image_path = file.path;
      fact.start = symbol.address - file.lowest_address + file.lowest_offset;
      break;
  }
  context.sink.system().functions().add(fact);
}

bool convert_file(bytes::ByteCursor in, CaptureContext& context) {
  SymbolFile file;
  file.path = in.read_c_string();
  file.type = in.read<std::uint32_t>();
  file.lowest_address = in.read<std::uint64_t>();
  const auto count = in.read<std::uint32_t>();
  const std::size_t symbols = in.position();
  for (std::uint32_t i = 0; i < count && in.ok(); ++i) {
    in.skip(12);
    in.read_c_string();
  }
  // After them, where the lowest address is.
  if (in.ok() && (file.type == kElfFile || file.type == kKernelModule) && in.remaining() >= 8) {
    file.lowest_offset = in.read<std::uint64_t>();
  }
  if (!in.ok()) {
    return false;
  }
  in.seek(symbols);
  for (std::uint32_t i = 0; i < count; ++i) {
    Symbol symbol;
    symbol.address = in.read<std::uint64_t>();
    symbol.length = in.read<std::uint32_t>();
    symbol.name = in.read_c_string();
    add_function(file, symbol, context);
  }
  return true;
}

// What a switch over tag_and_type() finds: a field of another kind is passed over as an unknown
// one.
constexpr std::uint32_t number_field(std::uint32_t tag) {
  return protozero::tag_and_type(tag, protozero::pbf_wire_type::varint);
}
constexpr std::uint32_t bytes_field(std::uint32_t tag) {
  return protozero::tag_and_type(tag, protozero::pbf_wire_type::length_delimited);
}

std::string_view text_of(const protozero::data_view& view) {
  return {view.data(), view.size()};
}

std::uint64_t first_number(protozero::pbf_reader message) {
  std::uint64_t value = 0;
  while (message.next()) {
    if (message.tag_and_type() == number_field(1)) {
      value = message.get_uint64();
    } else {
      message.skip();
    }
  }
  return value;
}

SymbolFile file_of(protozero::pbf_reader message) {
  SymbolFile file;
  file.type = kKernelImage;  // fields that are not there are 0
  while (message.next()) {
    switch (message.tag_and_type()) {
      case bytes_field(1):
        file.path = text_of(message.get_view());
        break;
      case number_field(2):
        file.type = message.get_uint32();
        break;
      case number_field(3):
        file.lowest_address = message.get_uint64();
        break;
      case bytes_field(6):
      case bytes_field(7):
        file.lowest_offset = first_number(message.get_message());
        break;
      default:
        message.skip();
        break;
    }
  }
  return file;
}

Symbol symbol_of(protozero::pbf_reader message) {
  Symbol symbol;
  while (message.next()) {
    switch (message.tag_and_type()) {
      case number_field(1):
        symbol.address = message.get_uint64();
        break;
      case number_field(2):
        symbol.length = message.get_uint32();
        break;
      case bytes_field(3):
        symbol.name = text_of(message.get_view());
        break;
      default:
        message.skip();
        break;
    }
  }
  return symbol;
}

bool convert_file2(const bytes::ByteCursor& in, CaptureContext& context) {
  const std::string_view content = bytes::text_of(in.rest());
  const protozero::data_view view(content.data(), content.size());
  try {
    const SymbolFile file = file_of(protozero::pbf_reader(view));
    for (protozero::pbf_reader message(view); message.next();) {
      if (message.tag_and_type() == bytes_field(4)) {
        add_function(file, symbol_of(message.get_message()), context);
      } else {
        message.skip();
      }
    }
  } catch (const protozero::exception&) {
    return false;
  }
  return true;
}

// Lines `name,type,config`, the names which the user gave when it was recorded.
void rename_events(std::string_view lines, CaptureContext& context) {
  while (!lines.empty()) {
    const std::size_t end = std::min(lines.find('\n'), lines.size());
    const std::string_view line = lines.substr(0, end);
    lines.remove_prefix(std::min(end + 1, lines.size()));
    const std::size_t type_at = line.find(',');
    const std::size_t config_at =
        type_at == std::string_view::npos ? type_at : line.find(',', type_at + 1);
    if (config_at == std::string_view::npos || type_at == 0) {
      continue;
    }
    std::uint32_t type = 0;
    std::uint64_t config = 0;
    const char* const last = line.data() + line.size();
    const bool numbers =
        std::from_chars(line.data() + type_at + 1, line.data() + config_at, type).ec ==
            std::errc() &&
        std::from_chars(line.data() + config_at + 1, last, config).ec == std::errc();
    for (const AttrTable::Row& row : context.attrs.rows()) {
      if (numbers && row.attr.type == type && row.attr.config == config) {
        context.sink.rename_event(row.event, line.substr(0, type_at));
      }
    }
  }
}

}  // namespace

bool convert_symbol_file(std::uint32_t feature, bytes::ByteCursor content,
                         CaptureContext& context) {
  return feature == static_cast<std::uint32_t>(SimpleperfFeature::kFile)
             ? convert_file(content, context)
             : convert_file2(content, context);
}

bool convert_meta_info(bytes::ByteCursor content, CaptureContext& context) {
  constexpr int kMostFacts = 256;
  for (int i = 0; i < kMostFacts && content.remaining() != 0; ++i) {
    const std::string_view key = content.read_c_string();
    const std::string_view value = content.read_c_string();
    if (!content.ok()) {
      return false;
    }
    if (key == "event_type_info") {
      rename_events(value, context);
    } else if (!key.empty()) {
      context.sink.system().metadata("simpleperf." + std::string(key), value);
    }
  }
  return true;
}

bool convert_event_ids(bytes::ByteCursor payload, CaptureContext& context) {
  const auto count = payload.read<std::uint64_t>();
  if (!payload.ok() || count > payload.remaining() / 16) {
    return false;
  }
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto attribute = payload.read<std::uint64_t>();
    const auto id = payload.read<std::uint64_t>();
    if (attribute < context.attrs.rows().size() &&
        !context.attrs.add_id(static_cast<std::uint32_t>(attribute), id)) {
      return false;
    }
  }
  return true;
}

}  // namespace stackpack::perf
