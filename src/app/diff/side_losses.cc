#include "app/diff/side_losses.h"

#include <string>

#include <fmt/format.h>

#include "capture/loss_counters.h"
#include "export/html/page_facts.h"

namespace stackpack::app {

std::vector<exporting::PageLoss> losses_of_side(std::span<const Reader* const> runs,
                                                std::string_view label,
                                                std::uint64_t without_callstack) {
  capture::LossCounters counters;
  std::uint64_t ip_only = 0;
  for (const Reader* const run : runs) {
    for (const LossCounter& loss : run->statistics().losses) {
      counters.add(loss.name, loss.kind, loss.count);
    }
    ip_only += run->statistics().samples.ip_only;
  }
  std::vector<exporting::PageLoss> losses;
  const auto add = [&](std::string_view name, std::uint64_t count, std::string_view text,
                       bool remark = false) {
    if (count != 0) {
      losses.push_back({std::string(name), count, fmt::format("{}: {}", label, text), remark});
    }
  };
  for (const LossCounter& loss : counters.sorted()) {
    add(loss.name, loss.count, exporting::loss_text(loss), loss.kind == LossKind::kNotice);
  }
  add("samples_without_callstack", without_callstack,
      "samples have no callstack; they are the root's own");
  add("samples_with_instruction_pointer_only", ip_only,
      "samples of the captures have an instruction pointer in place of a callstack");
  return losses;
}

}  // namespace stackpack::app
