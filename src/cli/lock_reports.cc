#include "cli/lock_reports.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "app/analysis/event_value_table.h"
#include "cli/event_reports.h"
#include "cli/human_text.h"
#include "cli/json_text.h"
#include "cli/next_commands.h"
#include "cli/text_escape.h"

namespace stackpack::cli {

namespace {

using app::LockGroup;
using app::LockRow;
using app::LockShare;
using app::LockWait;

constexpr std::size_t kMostShares = 4;  // of a row, in the table

std::string_view heading_of(LockGroup by) {
  switch (by) {
    case LockGroup::kHolder:
      return "holder";
    case LockGroup::kWaiter:
      return "waiter";
    case LockGroup::kCallstack:
      return "waits in";
    case LockGroup::kClass:
      return "class";
    default:
      return "lock";
  }
}

void append_shares(std::string& out, std::string_view what, const std::vector<LockShare>& shares,
                   const std::string& but) {
  if (shares.size() == 1 &&
      (shares.front().name == but || shares.front().name == app::kUnknownThread)) {
    return;  // the row says it, or nobody does
  }
  for (std::size_t i = 0; i < std::min(shares.size(), kMostShares); ++i) {
    out += fmt::format("{:38}{} ", "", what);
    append_escaped(out, shares[i].name);
    out += shares[i].waits == 1 ? " once" : fmt::format(" {} times", grouped(shares[i].waits));
    out += fmt::format(", {} ms\n", ms_text(shares[i].ns));
  }
  if (shares.size() > kMostShares) {
    out += fmt::format("{:38}and {} more\n", "", grouped(shares.size() - kMostShares));
  }
}

void write_shares(JsonText& json, std::string_view key, const std::vector<LockShare>& shares) {
  json.key(key);
  json.begin_array();
  for (const LockShare& share : shares) {
    json.begin_object();
    json.field("name", share.name);
    json.field("count", share.waits);
    json.field("duration_ns", share.ns);
    json.end_object();
  }
  json.end_array();
}

void write_row(JsonText& json, const LockRow& row) {
  json.begin_object();
  json.field("name", row.name);
  json.field("kind", row.kind);
  json.field("process", row.process);
  if (row.stack != kNoStack) {
    json.field("stack", row.stack);
  }
  json.field("count", row.waits);
  json.field("duration_ns", row.ns);
  json.field("longest_ns", row.longest_ns);
  write_shares(json, "waits_in", row.places);
  write_shares(json, "held_by", row.holders);
  write_shares(json, "waiters", row.waiters);
  json.end_object();
}

// Lines of the list.
class WaitLister {
 public:
  WaitLister(app::EventValueTable& values, bool json, app::TextOutput& out)
      : values_(values), out_(out) {
    if (json) {
      lines_.emplace(out.text());
    } else {
      out.text() += "# begin\tend\twait_ms\tsource\tkind\tlock\tthread\theld_by\twaits_in\tstack\n";
    }
  }

  Status list(const LockWait& wait) {
    EventValue value;
    value.stack = wait.stack;
    value.pid = wait.pid;
    value.time_ns = wait.from_ns;
    const Result<std::string> place = values_.function(value, app::RuntimeFrames::kWaiting);
    if (!place) {
      return place.error();
    }
    if (lines_) {
      write_json(wait, *place);
    } else {
      write_line(wait, *place);
    }
    return out_.checkpoint();
  }

  void end() {
    if (lines_) {
      lines_->end();
    }
  }

 private:
  void write_line(const LockWait& wait, const std::string& place) {
    std::string& text = out_.text();
    text += fmt::format("{}\t{}\t{}\t{}\t{}\t{}\t", seconds_text(wait.from_ns),
                        seconds_text(wait.to_ns), milliseconds_text(wait.ns), wait.source,
                        wait.kind, app::lock_text(wait));
    append_escaped(text, values_.thread(wait.pid, wait.tid, wait.from_ns));
    text += '\t';
    append_escaped(text, wait.holder == kUnknownId
                             ? std::string("-")
                             : values_.thread(wait.pid, wait.holder, wait.from_ns));
    text += '\t';
    append_escaped(text, place.empty() ? std::string_view("-") : std::string_view(place));
    text += '\t' + (wait.stack == kNoStack ? std::string("-") : std::to_string(wait.stack)) + '\n';
  }

  void write_json(const LockWait& wait, const std::string& place) {
    JsonText json = lines_->element();
    json.begin_object();
    json.field("source", wait.source);
    json.field("kind", wait.kind);
    json.field("lock", std::string_view(app::lock_text(wait)));
    json.field("pid", wait.pid);
    json.field("tid", wait.tid);
    json.field("from_ns", wait.from_ns);
    json.field("to_ns", wait.to_ns);
    json.field("duration_ns", wait.ns);
    if (wait.object != kNoValue) {
      json.field("object", std::string_view(fmt::format("0x{:x}", wait.object)));
    }
    if (wait.holder != kUnknownId) {
      json.field("held_by", wait.holder);
    }
    if (wait.holder_stack != kNoStack) {
      json.field("held_since_stack", wait.holder_stack);
    }
    json.field("waits_in", place);
    if (wait.stack != kNoStack) {
      json.field("stack", wait.stack);
    }
    json.end_object();
  }

  app::EventValueTable& values_;
  app::TextOutput& out_;
  std::optional<JsonLines> lines_;
};

}  // namespace

void append_lock_table(std::string& out, const app::LockReport& report) {
  out += fmt::format("{}, {} ms, longest {} ms", counted(report.waits, "wait"), ms_text(report.ns),
                     ms_text(report.longest_ns));
  out += report.between_ns == report.ns
             ? "\n"
             : fmt::format("; {} ms from begins to ends\n", ms_text(report.between_ns));
  if (report.not_locks != 0) {
    out += fmt::format("{} for what is no lock, {} ms, left out; --all shows them\n",
                       counted(report.not_locks, "wait"), ms_text(report.not_locks_ns));
  }
  if (report.left.still_waiting != 0) {
    out += fmt::format("{} without an end\n", counted(report.left.still_waiting, "wait"));
  }
  if (report.rows.empty()) {
    return;
  }
  out +=
      fmt::format("{:>9} {:>12} {:>12}  {}\n", "waits", "ms", "longest ms", heading_of(report.by));
  for (const LockRow& row : report.rows) {
    out += fmt::format("{:>9} {:>12} {:>12}  ", grouped(row.waits), ms_text(row.ns),
                       ms_text(row.longest_ns));
    append_escaped(out, row.name);
    out += '\n';
    append_shares(out, "in", row.places, row.name);
    append_shares(out, "held by", row.holders, row.name);
    append_shares(out, "waiter", row.waiters, row.name);
  }
  append_more(out, report.all_rows, report.rows.size());
}

void append_lock_json(std::string& out, const app::LockReport& report,
                      const EventReportArguments& arguments) {
  JsonText json(out);
  json.begin_object();
  json.field("by", heading_of(report.by));
  json.field("count", report.waits);
  json.field("duration_ns", report.ns);
  json.field("between_ns", report.between_ns);
  json.field("longest_ns", report.longest_ns);
  json.field("other_waits", report.not_locks);
  json.field("other_waits_ns", report.not_locks_ns);
  json.field("without_end", report.left.still_waiting);
  json.field("without_begin", report.left.without_begin);
  json.key("rows");
  json.begin_array();
  for (const LockRow& row : report.rows) {
    write_row(json, row);
  }
  json.end_array();
  json.field("rows_in_all", std::uint64_t{report.all_rows});
  NextCommands next;
  const std::vector<std::string>& words = arguments.filter_words;
  if (!report.rows.empty() && report.rows.front().stack != kNoStack) {
    next.add({"show", arguments.file, std::to_string(report.rows.front().stack)});
  }
  if (report.not_locks != 0) {
    next.add({"locks", arguments.file, "--all"}, words);
  }
  next.add({"locks", arguments.file, "--list", "--limit=20"}, words);
  next.add_longer({"locks", arguments.file}, arguments.limit, report.all_rows - report.rows.size(),
                  words);
  next.write(json);
  json.end_object();
  out += '\n';
}

Status list_lock_waits(const Reader& reader, const EventReportArguments& arguments,
                       app::TextOutput& out, std::uint64_t& found) {
  Result<app::EventValueTable> values = app::EventValueTable::load(reader);
  if (!values) {
    return values.error();
  }
  WaitLister lister(*values, arguments.json, out);
  Status status;
  const auto visited = app::visit_lock_waits(*values, [&](const LockWait& wait) {
    ++found;
    if (status && (wait.is_lock || arguments.locks.all) &&
        app::is_asked_for(arguments.locks, wait)) {
      status = lister.list(wait);
    }
  });
  lister.end();
  return visited ? status : Status(visited.error());
}

}  // namespace stackpack::cli
