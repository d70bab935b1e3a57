#include "spk/write/branch_stack_writer.h"

#include "spk/format/branch_entry_codec.h"

namespace stackpack::spk {

Status BranchStackWriter::add_entry(const StackedBranch& entry) {
  return entries_.add(entry, encode_branch_entries);
}

Status BranchStackWriter::begin_dag() {
  const Status ended = of_cycles_ ? Status{} : entries_.end(encode_branch_entries);
  return ended ? dag_->begin() : ended;
}

}  // namespace stackpack::spk
