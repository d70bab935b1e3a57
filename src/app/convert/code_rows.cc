#include "app/convert/code_rows.h"
namespace stackpack::app {

std::uint32_t CodeRows::text(std::string_view text) {
  return text.empty() ? kNoText : texts_.intern(text);
}

std::string_view CodeRows::view(std::uint32_t text) const {
  return text == kNoText ? std::string_view() : texts_.text(text);
}

void CodeRows::add(const CodeRange& range, const capture::CodeFact& code) {
  if (!code.known()) {
    return;
  }
  CodeLine line;
  static_cast<CodeRange&>(line) = range;
  line.file = text(code.file);
  line.line = code.line;
  for (const capture::InlinedFact& fact : code.inlined) {
    InlinedCall call;
    call.parent = line.inlined;
    call.name = text(fact.name);
    call.linkage = fact.linkage == fact.name ? kNoText : text(fact.linkage);
    call.call_file = text(fact.call_file);
    call.call_line = fact.call_line;
    const auto [known, fresh] = calls_.try_emplace(
        CallKey(call.parent, call.name, call.linkage, call.call_file, call.call_line),
        static_cast<std::uint32_t>(inlined_.size()));
    if (fresh) {
      inlined_.push_back(call);
    }
    line.inlined = known->second;
  }
  lines_.push_back(line);
}

Status CodeRows::write(spk::NameWriter& names) const {
  for (const InlinedCall& call : inlined_) {
    if (const Status added =
            names.add(call, {view(call.name), view(call.linkage), view(call.call_file)});
        !added) {
      return added;
    }
  }
  for (const CodeLine& line : lines_) {
    if (const Status added = names.add(line, {{}, {}, view(line.file)}); !added) {
      return added;
    }
  }
  return {};
}

Status write_rows(const Names& names, spk::NameWriter& writer) {
  const TextTable& texts = names.texts;
  for (const Function& row : names.functions) {
    if (const Status added =
            writer.add(row, {texts[row.name], texts[row.linkage], texts[row.file]});
        !added) {
      return added;
    }
  }
  for (const InlinedCall& row : names.inlined) {
    if (const Status added =
            writer.add(row, {texts[row.name], texts[row.linkage], texts[row.call_file]});
        !added) {
      return added;
    }
  }
  for (const CodeLine& row : names.lines) {
    if (const Status added = writer.add(row, {{}, {}, texts[row.file]}); !added) {
      return added;
    }
  }
  for (const FunctionAlias& row : names.aliases) {
    if (const Status added = writer.add_alias(texts[row.name], texts[row.alias]); !added) {
      return added;
    }
  }
  return {};
}

}  // namespace stackpack::app
