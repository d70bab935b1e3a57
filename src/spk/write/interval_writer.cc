#include "spk/write/interval_writer.h"

#include "spk/format/interval_codec.h"

namespace stackpack::spk {

Status IntervalWriter::add(const WaitInterval& row) {
  return rows_.add(row, encode_intervals);
}

Status IntervalWriter::end(std::span<const std::string> reasons) {
  const Status ended = rows_.end(encode_intervals);
  return !ended || rows_.empty() ? ended
                                 : write_one_block(out_, SectionKind::kWaitReasons, reasons.size(),
                                                   [reasons](BlockContent& content) {
                                                     encode_wait_reasons(reasons, content);
                                                   });
}

}  // namespace stackpack::spk
