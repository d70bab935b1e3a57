#include "app/redact/redacted_names.h"

#include <algorithm>
#include <array>
#include <tuple>

#include "bytes/byte_text.h"
#include "capture/redaction.h"
#include "query/name_pattern.h"

namespace stackpack::app {

namespace {

constexpr unsigned kHashDigits = 16;

// What metadata may stay: what kind of machine it was, and what readers calculate with.
constexpr std::array<std::string_view, 16> kKeptFacts = {
    "arch",         "clock.",      "cpu.",
    "etl.total.",   "etl.clock",   "kernel.reference_",
    "memory.",      "nettrace.",   "os.build",
    "pointer.size", "os.name",     "os.version",
    "samples.",     "pprof.unit.", "pprof.default_event",
    "waits."};

bool is_kept_fact(std::string_view key) {
  return std::any_of(kKeptFacts.begin(), kKeptFacts.end(),
                     [key](std::string_view start) { return key.starts_with(start); });
}

bool is_no_file(std::string_view path) {
  return path.starts_with('[') && path.ends_with(']');
}

// What a text is used as: the same text may be kept in one place and not in another.
enum class Role : std::uint8_t { kKeptText, kFunction, kFile };

class TextRewriter {
 public:
  TextRewriter(const Names& before, StandIns& stand_ins, Names& after)
      : before_(before), stand_ins_(stand_ins), after_(after) {}

  std::uint32_t put(std::uint32_t text, Role role) {
    if (text == kNoText) {
      return kNoText;
    }
    const auto [at, fresh] = numbers_.try_emplace(std::tuple(text, role), count_);
    if (fresh) {
      const std::string_view old = before_.texts[text];
      after_.texts.add(role == Role::kKeptText   ? capture::without_user_names(old)
                       : role == Role::kFunction ? stand_ins_.of("function", old)
                                                 : stand_ins_.of("file", old));
      ++count_;
    }
    return at->second;
  }

 private:
  const Names& before_;
  StandIns& stand_ins_;
  Names& after_;
  std::map<std::tuple<std::uint32_t, Role>, std::uint32_t> numbers_;
  std::uint32_t count_ = 0;
};

// Inlined calls that lie in kept code alone.
std::vector<bool> kept_calls(const Names& names, const auto& is_kept) {
  std::vector<bool> kept(names.inlined.size());
  std::vector<bool> other(names.inlined.size());
  for (const CodeLine& line : names.lines) {
    if (line.inlined != kNoInline) {
      (is_kept(line) ? kept : other)[line.inlined] = true;
    }
  }
  for (std::size_t i = names.inlined.size(); i-- > 0;) {  // parents come first
    if (const std::uint32_t parent = names.inlined[i].parent; parent != kNoInline) {
      kept[parent] = kept[parent] || kept[i];
      other[parent] = other[parent] || other[i];
    }
  }
  for (std::size_t i = 0; i < kept.size(); ++i) {
    kept[i] = kept[i] && !other[i];
  }
  return kept;
}

}  // namespace

StandIns::StandIns(const std::optional<std::string>& key) {
  if (key) {
    const SipHash first(0, 0);
    hash_.emplace(first.of("0" + *key), first.of("1" + *key));
  }
}

std::string StandIns::of(std::string_view kind, std::string_view text) {
  if (text.empty()) {
    return {};
  }
  std::string whole(kind);
  whole += '\0';
  whole += text;
  std::string stand_in = std::string(kind) + '_';
  if (hash_) {
    bytes::append_hex(stand_in, hash_->of(whole), kHashDigits);
    return stand_in;
  }
  const auto [at, fresh] = numbers_.try_emplace(std::move(whole), 0);
  if (fresh) {
    at->second = ++used_[std::string(kind)];
  }
  return stand_in + std::to_string(at->second);
}

std::vector<std::uint8_t> StandIns::of_build_id(const std::vector<std::uint8_t>& build_id) {
  const std::string text(build_id.begin(), build_id.end());
  const std::string stand_in = of("build_id", text);
  const SipHash spread(0, 0);
  std::vector<std::uint8_t> bytes;
  for (std::size_t i = 0; i < build_id.size(); ++i) {
    const std::uint64_t word = spread.of(std::to_string(i / 8) + stand_in);
    bytes.push_back(static_cast<std::uint8_t>(word >> (i % 8 * 8)));
  }
  return bytes;
}

std::vector<bool> kept_modules(const std::vector<Module>& modules,
                               const std::vector<std::string>& patterns) {
  std::vector<bool> kept;
  kept.reserve(modules.size());
  for (const Module& module : modules) {
    const std::string_view path = module.path;
    const std::string_view last = path.substr(path.find_last_of("/\\") + 1);
    kept.push_back(is_no_file(path) || query::fits_any(path, patterns) ||
                   query::fits_any(last, patterns));
  }
  return kept;
}

void redact_tables(capture::SystemTables& tables, const std::vector<bool>& kept, StandIns& names,
                   RedactedCounts& counts) {
  for (Process& process : tables.processes) {
    process.name = names.of("name", process.name);
    process.command_line.clear();
  }
  for (Thread& thread : tables.threads) {
    thread.name = names.of("name", thread.name);
  }
  for (std::size_t i = 0; i < tables.modules.size(); ++i) {
    Module& module = tables.modules[i];
    if (kept[i]) {
      module.path = capture::without_user_names(module.path);
      module.debug_name = capture::without_user_names(module.debug_name);
      ++counts.kept_modules;
      continue;
    }
    module.path = names.of("module", module.path);
    module.debug_name.clear();
    module.build_id = names.of_build_id(module.build_id);
    ++counts.modules;
  }
  counts.facts_dropped = std::erase_if(
      tables.metadata, [](const MetadataEntry& entry) { return !is_kept_fact(entry.key); });
  for (MetadataEntry& entry : tables.metadata) {
    entry.value = capture::without_user_names(entry.value);
  }
}

void redact_control_groups(std::vector<ControlGroup>& groups, StandIns& names) {
  for (ControlGroup& group : groups) {
    group.path = names.of("cgroup", group.path);
  }
}

Names redacted_names(const Names& names, const std::vector<bool>& kept, bool keeps_kernel,
                     StandIns& stand_ins, RedactedCounts& counts) {
  const auto is_kept = [&](const CodeRange& code) {
    return code.owner == FunctionOwner::kImage    ? code.module < kept.size() && kept[code.module]
           : code.owner == FunctionOwner::kKernel ? keeps_kernel
                                                  : false;
  };
  Names after;
  after.functions = names.functions;
  after.inlined = names.inlined;
  after.lines = names.lines;
  TextRewriter texts(names, stand_ins, after);
  for (Function& function : after.functions) {
    const bool keep = is_kept(function);
    function.name = texts.put(function.name, keep ? Role::kKeptText : Role::kFunction);
    function.linkage = keep ? texts.put(function.linkage, Role::kKeptText) : kNoText;
    function.file = texts.put(function.file, keep ? Role::kKeptText : Role::kFile);
    ++(keep ? counts.kept_functions : counts.functions);
  }
  const std::vector<bool> calls = kept_calls(names, is_kept);
  for (std::size_t i = 0; i < after.inlined.size(); ++i) {
    InlinedCall& call = after.inlined[i];
    call.name = texts.put(call.name, calls[i] ? Role::kKeptText : Role::kFunction);
    call.linkage = calls[i] ? texts.put(call.linkage, Role::kKeptText) : kNoText;
    call.call_file = texts.put(call.call_file, calls[i] ? Role::kKeptText : Role::kFile);
  }
  for (CodeLine& line : after.lines) {
    line.file = texts.put(line.file, is_kept(line) ? Role::kKeptText : Role::kFile);
  }
  return after;
}

}  // namespace stackpack::app
