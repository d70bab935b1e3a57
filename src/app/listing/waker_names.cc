#include "app/listing/waker_names.h"

namespace stackpack::app {

namespace {

query::CaptureView view_of(const WaitTables& tables) {
  query::CaptureView view;
  view.processes = tables.processes;
  view.threads = tables.threads;
  view.source_firsts = tables.source_firsts;
  return view;
}

}  // namespace

WakerNames::WakerNames(const WaitTables& tables) : threads_(view_of(tables)) {}

std::string_view WakerNames::name(const WaitInterval& row) const {
  if (row.waker_kind != WakerKind::kThread || row.waker == kUnknownId) {
    return {};
  }
  const std::uint32_t found = threads_.find(row.pid, row.waker, row.to_ns);
  return found == query::WakerThreads::kNone ? std::string_view() : threads_[found].name;
}

}  // namespace stackpack::app
