#include "app/convert/name_rows.h"

namespace stackpack::app {

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
  return {};
}

}  // namespace stackpack::app
