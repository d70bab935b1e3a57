#include "cli/wait_list.h"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "app/listing/function_titles.h"
#include "app/listing/thread_names.h"
#include "app/listing/wait_runs.h"
#include "cli/human_text.h"
#include "cli/interval_dump.h"
#include "cli/json_text.h"
#include "cli/name_column.h"
#include "cli/text_escape.h"
#include "stackpack/symbols.h"

namespace stackpack::cli {

namespace {

using app::WaitRun;

// `0.123`, in ms.
std::string milliseconds(std::uint64_t ns) {
  constexpr std::uint64_t kMillion = 1'000'000;
  return fmt::format("{}.{:06}", ns / kMillion, ns % kMillion);
}

class RunLister {
 public:
  RunLister(const Reader& reader, std::vector<std::string> reasons, app::ThreadNames names,
            const Symbols& symbols, const WaitsArguments& arguments, app::TextOutput& out)
      : reader_(reader),
        reasons_(std::move(reasons)),
        names_(std::move(names)),
        symbols_(symbols),
        kind_(names_or_default(arguments.names)),
        out_(out) {
    if (arguments.json) {
      lines_.emplace(out.text());
    } else {
      out.text() +=
          "# time\tthread\twait_ms\tdelay_ms\trun_ms\tstate\treason\twoken_by\tblocked_in\n";
    }
  }

  Status list(std::span<const WaitRun> runs) {
    ids_.clear();
    at_.clear();
    for (std::size_t i = 0; i < runs.size(); ++i) {
      if (runs[i].wait.stack != kNoStack) {
        ids_.push_back(runs[i].wait.stack);
        at_.push_back(i);
      }
    }
    places_.assign(runs.size(), {});
    const Status read =
        reader_.callstacks(ids_, [&](std::size_t position, std::span<const Frame> frames) {
          const WaitInterval& wait = runs[at_[position]].wait;
          places_[at_[position]] = place_of(frames, wait.pid, wait.from_ns);
          return true;
        });
    if (!read) {
      return read;
    }
    for (std::size_t i = 0; i < runs.size(); ++i) {
      write(runs[i], places_[i]);
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
  // The function of user code that went into the kernel to wait; of a kernel thread the leaf.
  std::string place_of(std::span<const Frame> frames, std::uint32_t pid, std::uint64_t time_ns) {
    symbols_.locate_stack(frames, pid, time_ns, locations_);
    std::size_t shown = 0;
    for (std::size_t i = 0; i < frames.size(); ++i) {
      if (frames[i].mode == FrameMode::kUser) {
        shown = i;
        break;
      }
    }
    if (frames.empty()) {
      return {};
    }
    const CodeLocation& location = locations_[shown];
    if (location.name.empty()) {
      return location.module == nullptr
                 ? fmt::format("0x{:x}", frames[shown].address)
                 : fmt::format("{}+0x{:x}", file_part(location.module->path), location.offset);
    }
    const std::string_view name =
        kind_ == app::FunctionNames::kLinkage ? location.linkage : location.name;
    const std::vector<app::FunctionTitle> titles{{std::string(name), "", ""}};
    return app::function_titles(titles, kind_).front();
  }

  static std::string_view file_part(std::string_view path) {
    return path.substr(path.find_last_of("/\\") + 1);
  }

  [[nodiscard]] std::string_view name_of(const WaitRun& run) const {
    return names_.name(run.run.pid, run.run.tid, run.run.to_ns);
  }
  [[nodiscard]] std::string_view reason_of(const WaitRun& run) const {
    return run.wait.tid == kUnknownId ? std::string_view() : reasons_[run.wait.reason];
  }

  void write(const WaitRun& run, const std::string& place) {
    const std::string& next = reasons_[run.next_reason];
    const std::string waker = waker_text(run.wait);
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
      json.field("woken_by", waker);
      json.field("blocked_in", place);
      json.end_object();
      return;
    }
    std::string& text = out_.text();
    text += seconds_text(run.run.to_ns) + '\t';
    append_escaped(text, name_of(run));
    text += fmt::format("[{}]\t{}\t{}\t{}\t", run.run.tid, milliseconds(run.wait_ns),
                        milliseconds(run.delay_ns), milliseconds(length));
    append_escaped(text, next.empty() ? "-" : next);
    text += '\t';
    append_escaped(text, reason_of(run).empty() ? "-" : reason_of(run));
    text += '\t' + waker + '\t';
    append_escaped(text, place.empty() ? "-" : place);
    text += '\n';
  }

  const Reader& reader_;
  std::vector<std::string> reasons_;
  app::ThreadNames names_;
  const Symbols& symbols_;
  app::FunctionNames kind_;
  app::TextOutput& out_;
  std::optional<JsonLines> lines_;
  std::vector<StackId> ids_;
  std::vector<std::size_t> at_;  // of each id: the run
  std::vector<std::string> places_;
  std::vector<CodeLocation> locations_;
};

}  // namespace

Status list_wait_runs(const Reader& reader, const WaitsArguments& arguments, app::TextOutput& out) {
  Result<app::WaitTables> tables = app::wait_tables(reader, arguments.filter);
  if (!tables) {
    return tables.error();
  }
  const Result<std::unique_ptr<const Symbols>> symbols = Symbols::load(reader);
  if (!symbols) {
    return symbols.error();
  }
  RunLister lister(reader, tables->reasons, app::ThreadNames(tables->processes, tables->threads),
                   **symbols, arguments, out);
  const Status status =
      app::visit_wait_runs(reader, arguments.filter, *tables,
                           [&lister](std::span<const WaitRun> runs) { return lister.list(runs); });
  lister.end();
  return status;
}

}  // namespace stackpack::cli
