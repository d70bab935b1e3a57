#include "cli/wait_table.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cli/event_note.h"
#include "cli/human_text.h"
#include "cli/json_text.h"
#include "cli/measure_text.h"
#include "cli/next_commands.h"
#include "cli/text_escape.h"
#include "core/sort_rows.h"

namespace stackpack::cli {

namespace {

using app::ThreadWaits;
using app::WaitSum;
using app::WaitTable;

// Threads that are shown, and sums of these and of the others.
struct ShownThreads {
  std::vector<const ThreadWaits*> rows;
  ThreadWaits all;
  std::uint64_t idle_threads = 0;
  ThreadWaits idle;
};

std::uint64_t waited_ns(const ThreadWaits& row) {
  return row.of(WaitState::kBlocked).sum_ns + row.of(WaitState::kWoken).sum_ns +
         row.of(WaitState::kPreempted).sum_ns;
}

void add_waits(ThreadWaits& sum, const ThreadWaits& row) {
  for (std::size_t state = 0; state < row.states.size(); ++state) {
    sum.states[state].add(row.states[state]);
  }
  for (const auto& [reason, blocked] : row.blocked_by) {
    sum.blocked_by[reason].add(blocked);
  }
}

ShownThreads shown_threads(const WaitTable& table, const WaitsArguments& arguments) {
  const app::WaitFilter& filter = arguments.filter;
  const bool chosen = filter.pid || filter.tid || !filter.threads.empty();
  ShownThreads shown;
  for (const ThreadWaits& row : table.threads) {
    if (row.is_idle_pool && !chosen && !arguments.idle_pools) {
      ++shown.idle_threads;
      add_waits(shown.idle, row);
    } else {
      shown.rows.push_back(&row);
      add_waits(shown.all, row);
    }
  }
  core::sort_rows(shown.rows, [](const auto* a, const auto* b) {
    return std::tuple(~waited_ns(*a), ~a->of(WaitState::kRunning).sum_ns, a->pid, a->tid) <
           std::tuple(~waited_ns(*b), ~b->of(WaitState::kRunning).sum_ns, b->pid, b->tid);
  });
  return shown;
}

std::string reason_name(const WaitTable& table, std::uint32_t reason) {
  std::string text;
  append_escaped(text, table.reasons[reason].empty() ? "-" : table.reasons[reason]);
  return text;
}

// `S 12.345 (7), D 1.200 (1)`: the largest first.
std::string reasons_text(const WaitTable& table, const ThreadWaits& row,
                         const MeasureScale& scale) {
  std::vector<std::pair<std::uint32_t, const WaitSum*>> sums;
  for (const auto& [reason, sum] : row.blocked_by) {
    sums.emplace_back(reason, &sum);
  }
  core::sort_rows(sums,
                  [](const auto& a, const auto& b) { return a.second->sum_ns > b.second->sum_ns; });
  std::string text;
  for (const auto& [reason, sum] : sums) {
    text += fmt::format("{}{} {} ({})", text.empty() ? "" : ", ", reason_name(table, reason),
                        scale.text(sum->sum_ns), grouped(sum->count));
  }
  return text;
}

void append_wait_row(std::string& out, const WaitTable& table, const ThreadWaits& row,
                     const std::string& name, const MeasureScale& scale, std::size_t width) {
  const std::uint64_t unknown =
      row.of(WaitState::kAwake).sum_ns + row.of(WaitState::kUnknown).sum_ns;
  std::string line = fmt::format(
      "{:>11}{:>11}{:>11}{:>11}{:>11}{:>9}{:>11}{:>11}  {:<{}}  {}",
      scale.text(row.of(WaitState::kBlocked).sum_ns), scale.text(row.of(WaitState::kWoken).sum_ns),
      scale.text(row.of(WaitState::kPreempted).sum_ns),
      scale.text(row.of(WaitState::kRunning).sum_ns), scale.text(unknown),
      grouped(row.of(WaitState::kRunning).count), scale.text(row.of(WaitState::kBlocked).max_ns),
      scale.text(std::max(row.of(WaitState::kWoken).max_ns, row.of(WaitState::kPreempted).max_ns)),
      name, width, reasons_text(table, row, scale));
  line.erase(line.find_last_not_of(' ') + 1);
  out += line + '\n';
}

std::string thread_title(const ThreadWaits& row) {
  std::string text;
  append_escaped(text, row.name);
  return text.empty() ? std::to_string(row.tid) : fmt::format("{} ({})", text, row.tid);
}

void append_sum_json(JsonText& json, const WaitSum& sum) {
  json.begin_object();
  json.field("count", sum.count);
  json.field("ns", sum.sum_ns);
  json.field("min_ns", sum.min_ns);
  json.field("mean_ns", sum.mean_ns());
  json.field("max_ns", sum.max_ns);
  json.field("deviation_percent", sum.deviation_percent());
  json.end_object();
}

void append_sums_json(JsonText& json, const WaitTable& table, const ThreadWaits& row) {
  for (std::size_t state = 0; state < row.states.size(); ++state) {
    json.key(wait_state_name(static_cast<WaitState>(state)));
    append_sum_json(json, row.states[state]);
  }
  json.key("blocked_by");
  json.begin_object();
  for (const auto& [reason, sum] : row.blocked_by) {
    json.key(table.reasons[reason].empty() ? "-" : std::string_view(table.reasons[reason]));
    append_sum_json(json, sum);
  }
  json.end_object();
}

// The thread that waited longest, in its steps and its list; what was left out.
NextCommands next_of_waits(const ShownThreads& shown, std::size_t rows,
                           const WaitsArguments& arguments) {
  NextCommands next;
  const std::string& file = arguments.file;
  if (!shown.rows.empty()) {
    const std::string tid = std::to_string(shown.rows.front()->tid);
    next.add({"waits", file, "--path=" + tid});
    next.add({"waits", file, "--list", "--tid=" + tid, "--limit=20"});
    if (shown.rows.front()->of(WaitState::kBlocked).sum_ns != 0) {
      next.add({"top", file, "--event=blocked", "--tid=" + tid});
    }
  }
  next.add_longer({"waits", file}, rows, shown.rows.size() - rows, arguments.filter_words);
  return next;
}

}  // namespace

void append_wait_table(std::string& out, const WaitTable& table, const WaitsArguments& arguments) {
  const ShownThreads shown = shown_threads(table, arguments);
  const std::size_t most = arguments.rows.value_or(WaitsArguments::kRows);
  const std::size_t rows = most == 0 ? shown.rows.size() : std::min(most, shown.rows.size());
  std::uint64_t largest = 0;
  for (const WaitSum& sum : shown.all.states) {
    largest = std::max(largest, sum.sum_ns);
  }
  const MeasureScale scale("ns", largest);
  const std::string all = fmt::format("[{}]", counted(shown.rows.size(), "thread"));
  std::size_t width = all.size();
  for (std::size_t i = 0; i < rows; ++i) {
    width = std::max(width, thread_title(*shown.rows[i]).size());
  }
  out += fmt::format("times in {}\n", scale.unit());
  out += fmt::format("{:>11}{:>11}{:>11}{:>11}{:>11}{:>9}{:>11}{:>11}  {:<{}}  {}\n", "blocked",
                     "woken", "preempted", "running", "unknown", "runs", "max block", "max delay",
                     "thread", width, "blocked by reason (blocks)");
  append_wait_row(out, table, shown.all, all, scale, width);
  for (std::size_t i = 0; i < rows; ++i) {
    append_wait_row(out, table, *shown.rows[i], thread_title(*shown.rows[i]), scale, width);
  }
  if (rows < shown.rows.size()) {
    out += fmt::format("{} more; -n 0 shows all\n", counted(shown.rows.size() - rows, "thread"));
  }
  if (shown.idle_threads != 0) {
    out +=
        fmt::format("idle: {} that wait for work left out, blocked {}; --idle-pools shows them\n",
                    counted(shown.idle_threads, "thread"),
                    measured_text(shown.idle.of(WaitState::kBlocked).sum_ns, "ns"));
  }
}

void append_wait_json(std::string& out, const WaitTable& table, const WaitsArguments& arguments) {
  const ShownThreads shown = shown_threads(table, arguments);
  JsonText json(out);
  json.begin_object();
  json.key("total");
  json.begin_object();
  append_sums_json(json, table, shown.all);
  json.end_object();
  json.key("threads");
  json.begin_array();
  const std::size_t most = arguments.rows.value_or(0);
  const std::size_t rows = most == 0 ? shown.rows.size() : std::min(most, shown.rows.size());
  for (const ThreadWaits* const row : std::span(shown.rows).first(rows)) {
    json.begin_object();
    if (row->pid != kUnknownId) {
      json.field("pid", row->pid);
    }
    json.field("tid", row->tid);
    json.field("name", row->name);
    append_sums_json(json, table, *row);
    json.end_object();
  }
  json.end_array();
  json.key("idle_pools");
  json.begin_object();
  json.field("threads", shown.idle_threads);
  append_sums_json(json, table, shown.idle);
  json.end_object();
  json.field("rows_left_out", shown.rows.size() - rows);
  write_notices(json, table.notices);
  next_of_waits(shown, rows, arguments).write(json);
  json.end_object();
  out += '\n';
}

}  // namespace stackpack::cli
