#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "bindings/c_handles.h"
#include "stackpack/model.h"
#include "stackpack/reader.h"

struct stackpack_tables {  // NOLINT(readability-identifier-naming): a C name
  std::vector<stackpack::Event> events;
  std::vector<stackpack::Process> processes;
  std::vector<stackpack::Thread> threads;
  std::vector<stackpack::Module> modules;
  std::vector<stackpack::MetadataEntry> metadata;
};

namespace {

using stackpack::bindings::guard;
using stackpack::bindings::hand_over;
using stackpack::bindings::refuse;
using stackpack::bindings::status_of;
using stackpack::bindings::text_of;

static_assert(STACKPACK_KERNEL_PID == stackpack::kKernelPid);
static_assert(STACKPACK_UNKNOWN_TIME == stackpack::kUnknownTime);

// Moves what `read` gives into `table`.
template <typename Row>
stackpack_status read_table(stackpack::Result<std::vector<Row>> read, std::vector<Row>& table) {
  if (read) {
    table = std::move(*read);
  }
  return status_of(read);
}

// The row of a table, as `convert` makes a C struct of it.
template <typename Row, typename Struct, typename Convert>
stackpack_status give_row(const stackpack_tables* tables, std::vector<Row> stackpack_tables::*table,
                          std::size_t row, Struct* to, Convert convert) {
  if (tables == nullptr) {
    return refuse("no tables");
  }
  if (row >= (tables->*table).size()) {
    return refuse("there is no such row");
  }
  return hand_over(to, convert((tables->*table)[row]));
}

}  // namespace

extern "C" {

stackpack_status stackpack_load_tables(const stackpack_reader* reader, stackpack_tables** tables) {
  if (reader == nullptr || tables == nullptr) {
    return refuse("a null pointer");
  }
  return guard([&] {
    auto loaded = std::make_unique<stackpack_tables>();
    const stackpack::Reader& file = *reader->reader;
    for (const stackpack_status status :
         {read_table(file.events(), loaded->events),
          read_table(file.processes(), loaded->processes),
          read_table(file.threads(), loaded->threads), read_table(file.modules(), loaded->modules),
          read_table(file.metadata(), loaded->metadata)}) {
      if (status != STACKPACK_OK) {
        return status;
      }
    }
    *tables = loaded.release();
    return STACKPACK_OK;
  });
}

void stackpack_free_tables(stackpack_tables* tables) {
  const std::unique_ptr<stackpack_tables> owned(tables);
}

stackpack_status stackpack_get_table_sizes(const stackpack_tables* tables,
                                           stackpack_table_sizes* sizes) {
  if (tables == nullptr) {
    return refuse("no tables");
  }
  return hand_over(sizes,
                   {0, tables->events.size(), tables->processes.size(), tables->threads.size(),
                    tables->modules.size(), tables->metadata.size()});
}

stackpack_status stackpack_get_event(const stackpack_tables* tables, size_t row,
                                     stackpack_event* event) {
  return give_row(tables, &stackpack_tables::events, row, event, [](const stackpack::Event& from) {
    return stackpack_event{0, text_of(from.name), from.has_weight ? 1U : 0U};
  });
}

stackpack_status stackpack_get_process(const stackpack_tables* tables, size_t row,
                                       stackpack_process* process) {
  return give_row(tables, &stackpack_tables::processes, row, process,
                  [](const stackpack::Process& from) {
                    stackpack_process to{};
                    to.start_ns = from.start_ns;
                    to.end_ns = from.end_ns;
                    to.pid = from.pid;
                    to.parent_pid = from.parent_pid;
                    to.inherits_mappings = from.inherits_mappings ? 1 : 0;
                    to.name = text_of(from.name);
                    to.command_line = text_of(from.command_line);
                    return to;
                  });
}

stackpack_status stackpack_get_thread(const stackpack_tables* tables, size_t row,
                                      stackpack_thread* thread) {
  return give_row(tables, &stackpack_tables::threads, row, thread,
                  [](const stackpack::Thread& from) {
                    stackpack_thread to{};
                    to.start_ns = from.start_ns;
                    to.end_ns = from.end_ns;
                    to.pid = from.pid;
                    to.tid = from.tid;
                    to.name = text_of(from.name);
                    return to;
                  });
}

stackpack_status stackpack_get_module(const stackpack_tables* tables, size_t row,
                                      stackpack_module* module) {
  return give_row(tables, &stackpack_tables::modules, row, module,
                  [](const stackpack::Module& from) {
                    stackpack_module to{};
                    to.base = from.base;
                    to.size = from.size;
                    to.file_offset = from.file_offset;
                    to.start_ns = from.start_ns;
                    to.end_ns = from.end_ns;
                    to.pid = from.pid;
                    to.build_id_kind = static_cast<std::uint32_t>(from.build_id_kind);
                    to.build_id = from.build_id.empty() ? nullptr : from.build_id.data();
                    to.build_id_size = from.build_id.size();
                    to.path = text_of(from.path);
                    to.debug_name = text_of(from.debug_name);
                    return to;
                  });
}

stackpack_status stackpack_get_metadata(const stackpack_tables* tables, size_t row,
                                        stackpack_metadata* metadata) {
  return give_row(tables, &stackpack_tables::metadata, row, metadata,
                  [](const stackpack::MetadataEntry& from) {
                    return stackpack_metadata{0, text_of(from.key), text_of(from.value)};
                  });
}

}  // extern "C"
