#include "cli/wait_path_report.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "app/listing/thread_names.h"
#include "app/listing/wait_path.h"
#include "cli/fitted_table.h"
#include "cli/human_text.h"
#include "cli/interval_dump.h"
#include "cli/json_text.h"
#include "cli/measure_text.h"
#include "cli/name_column.h"
#include "cli/next_commands.h"
#include "cli/text_escape.h"
#include "cli/wait_places.h"
#include "core/sort_rows.h"
#include "stackpack/symbols.h"

namespace stackpack::cli {

namespace {

using app::PathEnd;
using app::PathStep;
using app::WaitPath;

constexpr std::size_t kTogether = 4096;

// Why a block is not followed to its waker. Who was interrupted is of no interest.
std::string ended_by(const PathStep& step) {
  switch (step.end) {
    case PathEnd::kNone:
      return {};
    case PathEnd::kInterrupt:
      return step.row.waker_kind == WakerKind::kDeferred ? "dpc" : "interrupt";
    case PathEnd::kNoWaker:
      return step.row.waker_kind == WakerKind::kNone ? "not recorded" : waker_text(step.row);
    case PathEnd::kNoIntervals:
      return waker_text(step.row) + " (nothing recorded)";
    case PathEnd::kCircle:
      return waker_text(step.row) + " (a circle)";
    case PathEnd::kTooDeep:
      return waker_text(step.row) + " (too many wakers)";
  }
  return {};
}

// Steps that are alike.
struct Share {
  std::uint64_t sum_ns = 0;
  std::uint64_t steps = 0;
};

// All steps of a thread.
struct ThreadShare {
  Share share;
  std::uint32_t tid = 0;
  std::string name;
};

// A step in words.
struct StepText {
  std::string thread;
  std::string_view state;
  std::string_view reason;
  std::string ended_by;
  std::string where;
};

class PathReport {
 public:
  PathReport(const Reader& reader, const WaitPath& path, const app::WaitTables& tables,
             const Symbols& symbols, const WaitsArguments& arguments, app::TextOutput& out)
      : path_(path),
        tables_(tables),
        names_(tables.processes, tables.threads),
        places_(reader, symbols, names_or_default(arguments.names, arguments.json)),
        arguments_(arguments),
        out_(out) {}

  Status list() {
    if (arguments_.json) {
      lines_ = std::make_unique<JsonLines>(out_.text());
    } else {
      out_.text() += "# from\tms\tdepth\tthread\tstate\treason\tended_by\twhere\n";
    }
    const Status done = visit([this](const PathStep& step, const StepText& text) {
      write_step(step, text);
      return out_.checkpoint();
    });
    if (lines_) {
      lines_->end();
    }
    return done;
  }

  Status sum() {
    const Status done = visit([this](const PathStep& step, const StepText& text) {
      const std::uint64_t length = step.to_ns - step.from_ns;
      Share& share = shares_[Key(step.row.tid, step.row.pid, text.thread, text.state, text.reason,
                                 text.ended_by, text.where)];
      share.sum_ns += length;
      ++share.steps;
      ThreadShare& thread = threads_[{step.row.pid, step.row.tid}];
      thread.name = text.thread;  // its last one
      thread.tid = step.row.tid;
      thread.share.sum_ns += length;
      ++thread.share.steps;
      return Status{};
    });
    if (!done) {
      return done;
    }
    if (arguments_.json) {
      write_json();
    } else if (arguments_.by_thread.value_or(false)) {
      write_threads();
    } else {
      write_table();
    }
    return {};
  }

 private:
  // Thread, process, name, state, reason, who ended it, place.
  using Key = std::tuple<std::uint32_t, std::uint32_t, std::string, std::string_view,
                         std::string_view, std::string, std::string>;

  // Steps with their texts, by time.
  template <typename Visit>
  Status visit(const Visit& visit) {
    for (std::size_t begin = 0; begin < path_.steps.size(); begin += kTogether) {
      const auto steps =
          std::span(path_.steps).subspan(begin, std::min(kTogether, path_.steps.size() - begin));
      std::vector<PlacedStack> stacks;
      for (const PathStep& step : steps) {
        const bool runs = step.row.state == WaitState::kRunning;
        stacks.push_back({runs ? step.woke_stack : step.row.stack, step.row.pid, step.row.from_ns});
      }
      Result<std::vector<std::string>> places = places_.of(stacks);
      if (!places) {
        return places.error();
      }
      for (std::size_t i = 0; i < steps.size(); ++i) {
        const Status visited = visit(steps[i], text_of(steps[i], std::move((*places)[i])));
        if (!visited) {
          return visited;
        }
      }
    }
    return {};
  }

  StepText text_of(const PathStep& step, std::string where) const {
    return {std::string(names_.name(step.row.pid, step.row.tid, step.to_ns)),
            wait_state_name(step.row.state), tables_.reasons[step.row.reason], ended_by(step),
            std::move(where)};
  }

  static std::string escaped(std::string_view text) {
    std::string out;
    append_escaped(out, text);
    return out;
  }
  static std::string or_dash(std::string_view text) { return text.empty() ? "-" : escaped(text); }
  static std::string title(std::string_view name, std::uint32_t tid) {
    return name.empty() ? std::to_string(tid) : fmt::format("{} ({})", escaped(name), tid);
  }

  void write_step(const PathStep& step, const StepText& text) {
    const std::uint64_t length = step.to_ns - step.from_ns;
    if (lines_) {
      JsonText json = lines_->element();
      json.begin_object();
      json.field("from_ns", step.from_ns);
      json.field("to_ns", step.to_ns);
      json.field("depth", step.depth);
      json.field("tid", step.row.tid);
      write_words(json, text.thread, text.state, text.reason, text.ended_by, text.where);
      json.end_object();
      return;
    }
    constexpr std::uint64_t kMillion = 1'000'000;
    out_.text() += fmt::format("{}\t{}.{:06}\t{}\t{}[{}]\t{}\t{}\t{}\t{}\n",
                               seconds_text(step.from_ns), length / kMillion, length % kMillion,
                               step.depth, escaped(text.thread), step.row.tid, text.state,
                               or_dash(text.reason), or_dash(text.ended_by), or_dash(text.where));
  }

  static void write_words(JsonText& json, std::string_view name, std::string_view state,
                          std::string_view reason, std::string_view ended_by,
                          std::string_view where) {
    json.field("name", name);
    json.field("state", state);
    json.field("reason", reason);
    json.field("ended_by", ended_by);
    json.field("where", where);
  }

  [[nodiscard]] std::uint64_t whole() const { return path_.to_ns - path_.from_ns; }

  // The largest first.
  [[nodiscard]] std::vector<std::pair<const Key*, Share>> rows() const {
    std::vector<std::pair<const Key*, Share>> rows;
    for (const auto& [key, share] : shares_) {
      rows.emplace_back(&key, share);
    }
    core::sort_rows(rows,
                    [](const auto& a, const auto& b) { return a.second.sum_ns > b.second.sum_ns; });
    return rows;
  }

  // The same by thread.
  [[nodiscard]] std::vector<const ThreadShare*> threads() const {
    std::vector<const ThreadShare*> threads;
    for (const auto& [key, thread] : threads_) {
      threads.push_back(&thread);
    }
    core::sort_rows(threads,
                    [](const auto* a, const auto* b) { return a->share.sum_ns > b->share.sum_ns; });
    return threads;
  }

  [[nodiscard]] std::string path_title() const {
    return title(names_.name(path_.pid, path_.tid, path_.to_ns), path_.tid);
  }

  [[nodiscard]] std::vector<std::string> texts_of(const Share& share, const MeasureScale& scale,
                                                  std::vector<std::string> words) const {
    std::vector<std::string> texts = {scale.text(share.sum_ns), human_share(share.sum_ns, whole()),
                                      grouped(share.steps)};
    texts.insert(texts.end(), words.begin(), words.end());
    return texts;
  }

  static std::vector<std::string> words_of(const Key& key) {
    const auto& [tid, pid, name, state, reason, ended, where] = key;
    return {title(name, tid), std::string(state), or_dash(reason), or_dash(ended), or_dash(where)};
  }

  void write_table() {
    constexpr std::size_t kLeastName = 16;
    const auto rows = this->rows();
    const std::size_t shown = most_rows(WaitsArguments::kRows, rows.size());
    const MeasureScale scale("ns", whole());
    FittedTable table({{"time", 11},
                       {"share", 9},
                       {"steps", 9, 0, 1},
                       {"thread", 0, kLeastName},
                       {"state"},
                       {"reason", 0, 0, 3},
                       {"ended by", 0, kLeastName, 2},
                       {"where", 0, kLeastName}});
    table.add_row(
        texts_of({whole(), path_.steps.size()}, scale,
                 {fmt::format("[{}]", counted(threads_.size(), "thread")), "", "", "", ""}));
    for (std::size_t i = 0; i < shown; ++i) {
      table.add_row(texts_of(rows[i].second, scale, words_of(*rows[i].first)));
    }
    write_title(scale);
    table.append_to(out_.text(), output_columns());
    write_left_out(rows.size() - shown, "row");
  }

  void write_title(const MeasureScale& scale) {
    out_.text() +=
        fmt::format("path of {} from {} to {}, times in {}\n", path_title(),
                    seconds_text(path_.from_ns), seconds_text(path_.to_ns), scale.unit());
  }

  void write_left_out(std::size_t count, std::string_view what) {
    if (count != 0) {
      out_.text() += fmt::format("{} more; -n 0 shows all\n", counted(count, what));
    }
  }

  void write_threads() {
    const std::vector<const ThreadShare*> threads = this->threads();
    const std::size_t shown = most_rows(WaitsArguments::kRows, threads.size());
    const MeasureScale scale("ns", whole());
    const auto write = [&](const Share& share, const std::string& thread) {
      out_.text() += fmt::format("{:>11}{:>9}{:>9}  {}\n", scale.text(share.sum_ns),
                                 human_share(share.sum_ns, whole()), grouped(share.steps), thread);
    };
    write_title(scale);
    out_.text() += fmt::format("{:>11}{:>9}{:>9}  thread\n", "time", "share", "steps");
    write({whole(), path_.steps.size()}, fmt::format("[{}]", counted(threads.size(), "thread")));
    for (const ThreadShare* const thread : std::span(threads).first(shown)) {
      write(thread->share, title(thread->name, thread->tid));
    }
    write_left_out(threads.size() - shown, "thread");
  }

  void write_share(JsonText& json, const Share& share) const {
    json.field("ns", share.sum_ns);
    json.field("share", static_cast<double>(share.sum_ns) / static_cast<double>(whole()));
    json.field("steps", share.steps);
  }

  void write_json_threads(JsonText& json) const {
    const std::vector<const ThreadShare*> threads = this->threads();
    const std::size_t shown = most_rows(0, threads.size());
    json.key("threads");
    json.begin_array();
    for (const ThreadShare* const thread : std::span(threads).first(shown)) {
      json.begin_object();
      write_share(json, thread->share);
      json.field("tid", thread->tid);
      json.field("name", thread->name);
      json.end_object();
    }
    json.end_array();
    json.field("threads_left_out", threads.size() - shown);
  }

  void write_json() {
    JsonText json(out_.text());
    json.begin_object();
    json.field("tid", path_.tid);
    json.field("name", names_.name(path_.pid, path_.tid, path_.to_ns));
    json.field("from_ns", path_.from_ns);
    json.field("to_ns", path_.to_ns);
    json.field("steps", path_.steps.size());
    write_json_threads(json);
    json.key("shares");
    json.begin_array();
    const auto rows = this->rows();
    const std::size_t shown = most_rows(0, rows.size());
    for (const auto& [key, share] : std::span(rows).first(shown)) {
      const auto& [tid, pid, name, state, reason, ended, where] = *key;
      json.begin_object();
      write_share(json, share);
      json.field("tid", tid);
      write_words(json, name, state, reason, ended, where);
      json.end_object();
    }
    json.end_array();
    json.field("rows_left_out", rows.size() - shown);
    write_next(json, rows, shown);
    json.end_object();
    out_.text() += '\n';
  }

  [[nodiscard]] std::size_t most_rows(std::size_t usual, std::size_t all) const {
    const std::size_t most = arguments_.rows.value_or(usual);
    return most == 0 ? all : std::min(most, all);
  }

  // The steps; the path of the thread that was waited for longest, and where it ran.
  void write_next(JsonText& json, const std::vector<std::pair<const Key*, Share>>& rows,
                  std::size_t shown) const {
    NextCommands next;
    const std::string path = fmt::format("--path={}", path_.tid);
    const std::string& file = arguments_.file;
    next.add({"waits", file, path, "--list"}, arguments_.filter_words);
    const auto other = std::find_if(rows.begin(), rows.end(), [this](const auto& row) {
      return std::get<0>(*row.first) != path_.tid;
    });
    if (other != rows.end()) {
      const std::string tid = std::to_string(std::get<0>(*other->first));
      next.add({"waits", file, "--path=" + tid}, arguments_.filter_words);
      next.add({"top", file, "--tid=" + tid}, arguments_.filter_words);
    }
    next.add_longer({"waits", file, path}, shown, rows.size() - shown, arguments_.filter_words);
    next.write(json);
  }

  const WaitPath& path_;
  const app::WaitTables& tables_;
  app::ThreadNames names_;
  WaitPlaces places_;
  const WaitsArguments& arguments_;
  app::TextOutput& out_;
  std::unique_ptr<JsonLines> lines_;
  std::map<Key, Share> shares_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, ThreadShare> threads_;  // by pid and tid
};

}  // namespace

Status report_wait_path(const Reader& reader, const WaitsArguments& arguments,
                        app::TextOutput& out) {
  const bool any = reader.has_intervals();
  const Result<app::WaitTables> tables =
      any ? app::wait_tables(reader, arguments.filter) : Result<app::WaitTables>(app::WaitTables{});
  if (!tables) {
    return tables.error();
  }
  WaitPath nothing;
  nothing.tid = arguments.filter.tid.value_or(kUnknownId);
  const Result<WaitPath> path = any ? app::find_wait_path(reader, arguments.filter, *tables)
                                    : Result<WaitPath>(std::move(nothing));
  if (!path) {
    return path.error();
  }
  const Result<std::unique_ptr<const Symbols>> symbols = Symbols::load(reader);
  if (!symbols) {
    return symbols.error();
  }
  PathReport report(reader, *path, *tables, **symbols, arguments, out);
  return arguments.list ? report.list() : report.sum();
}

}  // namespace stackpack::cli
