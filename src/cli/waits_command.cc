#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "app/listing/capture_notices.h"
#include "app/listing/text_output.h"
#include "app/listing/thread_names.h"
#include "app/listing/wait_runs.h"
#include "app/listing/wait_sums.h"
#include "cli/arguments.h"
#include "cli/commands.h"
#include "cli/event_note.h"
#include "cli/exit_codes.h"
#include "cli/human_text.h"
#include "cli/interval_dump.h"
#include "cli/json_text.h"
#include "cli/name_column.h"
#include "cli/shown_capture.h"
#include "cli/text_escape.h"
#include "cli/wait_path_report.h"
#include "cli/wait_places.h"
#include "cli/wait_table.h"
#include "stackpack/reader.h"
#include "stackpack/result.h"
#include "stackpack/symbols.h"

namespace stackpack::cli {

namespace {

// The lines of `waits --list`.

using app::WaitRun;

class RunLister {
 public:
  RunLister(const Reader& reader, const app::WaitTables& tables, const Symbols& symbols,
            const WaitsArguments& arguments, app::TextOutput& out)
      : reasons_(tables.reasons),
        names_(tables.processes, tables.threads),
        wakers_(tables),
        places_(reader, symbols, names_or_default(arguments.names, arguments.json)),
        out_(out) {
    if (arguments.json) {
      lines_.emplace(out.text());
    } else {
      out.text() +=
          "# time\tthread\twait_ms\tdelay_ms\trun_ms\tstate\treason\twoken_by\tblocked_in\n";
    }
  }

  Status list(std::span<const WaitRun> runs) {
    stacks_.clear();
    for (const WaitRun& run : runs) {
      stacks_.push_back({run.wait.stack, run.wait.pid, run.wait.from_ns});
    }
    const Result<std::vector<std::string>> places = places_.of(stacks_);
    if (!places) {
      return places.error();
    }
    for (std::size_t i = 0; i < runs.size(); ++i) {
      write(runs[i], (*places)[i]);
      if (const Status written = out_.checkpoint(); !written) {
        return written;
      }
    }
    return {};
  }

  void end() {
    if (lines_) {
      lines_->end();
    }
  }

 private:
  [[nodiscard]] std::string_view name_of(const WaitRun& run) const {
    return names_.name(run.run.pid, run.run.tid, run.run.to_ns);
  }
  [[nodiscard]] std::string_view reason_of(const WaitRun& run) const {
    return run.wait.tid == kUnknownId ? std::string_view() : reasons_[run.wait.reason];
  }

  // A thread as in the column of threads; an interrupt, or what has no name, as a number.
  void append_waker(std::string& text, const WaitInterval& wait) const {
    const std::string_view name = wakers_.name(wait);
    if (name.empty()) {
      text += waker_text(wait);
      return;
    }
    text += (wait.flags & kWaitHint) != 0 ? "~" : "";
    append_escaped(text, name);
    text += fmt::format("[{}]", wait.waker);
  }

  void write(const WaitRun& run, const std::string& place) {
    const std::string& next = reasons_[run.next_reason];
    const std::uint64_t length = run.run.to_ns - run.run.from_ns;
    if (lines_) {
      JsonText json = lines_->element();
      json.begin_object();
      json.field("time_ns", run.run.to_ns);
      json.field("tid", run.run.tid);
      json.field("name", name_of(run));
      json.field("wait_ns", run.wait_ns);
      json.field("delay_ns", run.delay_ns);
      json.field("run_ns", length);
      json.field("state", next);
      json.field("reason", reason_of(run));
      json.field("woken_by", std::string_view(waker_text(run.wait)));
      json.field("woken_by_name", wakers_.name(run.wait));
      json.field("blocked_in", place);
      json.end_object();
      return;
    }
    std::string& text = out_.text();
    text += seconds_text(run.run.to_ns) + '\t';
    append_escaped(text, name_of(run));
    text += fmt::format("[{}]\t{}\t{}\t{}\t", run.run.tid, milliseconds_text(run.wait_ns),
                        milliseconds_text(run.delay_ns), milliseconds_text(length));
    append_escaped(text, next.empty() ? "-" : next);
    text += '\t';
    append_escaped(text, reason_of(run).empty() ? "-" : reason_of(run));
    text += '\t';
    append_waker(text, run.wait);
    text += '\t';
    append_escaped(text, place.empty() ? "-" : place);
    text += '\n';
  }

  const std::vector<std::string>& reasons_;
  app::ThreadNames names_;
  app::WakerNames wakers_;
  WaitPlaces places_;
  app::TextOutput& out_;
  std::optional<JsonLines> lines_;
  std::vector<PlacedStack> stacks_;
};

// Lists the runs that fit: a line of names, a line a run. Errors: those of the reader and of
// `out`.
Status list_wait_runs(const Reader& reader, const WaitsArguments& arguments, app::TextOutput& out) {
  const Result<app::WaitTables> tables = reader.has_intervals()
                                             ? app::wait_tables(reader, arguments.filter)
                                             : Result<app::WaitTables>(app::WaitTables{});
  if (!tables) {
    return tables.error();
  }
  const Result<std::unique_ptr<const Symbols>> symbols = Symbols::load(reader);
  if (!symbols) {
    return symbols.error();
  }
  RunLister lister(reader, *tables, **symbols, arguments, out);
  const Status status = !reader.has_intervals()
                            ? Status()
                            : app::visit_wait_runs(reader, arguments.filter, *tables,
                                                   [&lister](std::span<const WaitRun> runs) {
                                                     return lister.list(runs);
                                                   });
  lister.end();
  return status;
}

}  // namespace

int run_waits(const WaitsArguments& arguments, const Messages& messages) {
  int exit_code = kExitSuccess;
  CaptureArguments reading = arguments.capture;
  reading.symbolize = reading.symbolize &&
                      (arguments.list || arguments.path);  // nothing else has names of functions
  const auto opened = open_shown(arguments.file, reading, messages, exit_code);
  if (!opened) {
    return exit_code;
  }
  const Reader& reader = opened->reader();
  warn_of(arguments.file, app::cut_notices(reader), messages);
  if (!reader.has_intervals()) {
    messages.note(arguments.file,
                  "has no switches of threads, or they were left out; perf record -a -e "
                  "sched:sched_switch -e sched:sched_waking -g records them, or WPR with context "
                  "switches");
  }
  if (arguments.list || arguments.path) {
    Result<std::unique_ptr<app::TextOutput>> out = app::TextOutput::open();
    if (!out) {
      messages.error("(standard output)", out.error());
      return exit_code_of(out.error());
    }
    if (arguments.list && arguments.rows.value_or(0) != 0) {
      (*out)->limit_rows(*arguments.rows, arguments.json ? app::TextOutput::RowForm::kJson
                                                         : app::TextOutput::RowForm::kLines);
    }
    const Status written = arguments.path ? report_wait_path(reader, arguments, **out)
                                          : list_wait_runs(reader, arguments, **out);
    return finish_output(**out, written, arguments.file, messages);
  }
  const Result<app::WaitTable> table = reader.has_intervals()
                                           ? app::sum_waits(reader, arguments.filter)
                                           : Result<app::WaitTable>(app::WaitTable{});
  if (!table) {
    messages.error(arguments.file, table.error());
    return exit_code_of(table.error());
  }
  std::string text;
  if (arguments.json) {
    append_wait_json(text, *table, arguments);
  } else {
    append_wait_table(text, *table, arguments);
  }
  return print(text, messages);
}

}  // namespace stackpack::cli
