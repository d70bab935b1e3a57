#include "app/symbolize/symbolize.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <optional>
#include <thread>
#include <tuple>
#include <utility>

#include "app/symbolize/added_names.h"
#include "app/symbolize/asked_addresses.h"
#include "app/symbolize/image_names.h"
#include "app/symbolize/renamed_file.h"
#include "core/guard.h"
#include "io/output_file.h"
#include "io/output_rules.h"
#include "spk/format/directory.h"
#include "stackpack/reader.h"
#include "stackpack/symbols.h"
#include "symbols/symbol_index.h"

namespace stackpack::app {

namespace {

/// One run: a file, and what its addresses are called.
class Run {
 public:
  Run(const SymbolizeOptions& options, ConvertProgress* progress)
      : options_(options), progress_(progress) {}

  Result<SymbolizeReport> run(const std::string& input, const std::string& output) {
    io::OutputRules rules;
    rules.force = options_.force;
    rules.replaceable = spk::looks_like_spk;
    rules.refusal = "exists and is not a .spk file; --force replaces it";
    const std::vector<std::string> inputs{input};
    if (const Status noted = io::add_inputs(rules, inputs); !noted) {
      return noted.error();
    }
    if (const Status allowed = io::check_output(output, rules); !allowed) {
      return of_output(allowed.error());
    }
    Result<Names> names = collect(input);
    if (!names) {
      return names.error();
    }
    Result<std::unique_ptr<io::OutputFile>> out = io::OutputFile::create(output, rules);
    if (!out) {
      return of_output(out.error());
    }
    if (const Status written = write_renamed(input, *names, **out); !written) {
      return written.error();
    }
    if (progress_ != nullptr && progress_->cancelled) {
      return Error{ErrorCode::kCancelled, kNoOffset, "interrupted"};
    }
    report_.output_bytes = (*out)->offset();
    if (const Status committed = (*out)->commit(); !committed) {
      return of_output(committed.error());
    }
    return std::move(report_);
  }

 private:
  static Error of_output(Error error) {
    error.part = kOutputPart;
    return error;
  }

  // The names that the file has and those that are found.
  Result<Names> collect(const std::string& input) {
    const Result<std::unique_ptr<Reader>> reader = Reader::open(input);
    if (!reader) {
      return reader.error();
    }
    const Result<std::vector<Module>> modules = (*reader)->modules();
    if (!modules) {
      return modules.error();
    }
    const Result<Names> old = (*reader)->names();
    if (!old) {
      return old.error();
    }
    const Result<AskedAddresses> asked = asked_addresses(**reader);
    if (!asked) {
      return asked.error();
    }
    const std::vector<std::uint32_t> first_rows = symbols::first_rows_of(*modules);
    AddedNames names(*old, first_rows);
    if (const Status named = add_images(*asked, *modules, names); !named) {
      return named.error();
    }
    std::stable_sort(report_.images.begin(), report_.images.end(),
                     [](const ImageReport& a, const ImageReport& b) { return a.asked > b.asked; });
    for (const ImageReport& image : report_.images) {
      report_.asked += image.asked;
      report_.named += image.named;
      report_.lines += image.lines;
    }
    return std::move(names).finish();
  }

  Status add_images(const AskedAddresses& asked, const std::vector<Module>& modules,
                    AddedNames& names) {
    std::vector<ImageTask> tasks;
    for (const AskedImage& image : asked.images) {
      const Module& module = modules[image.module];
      ImageTask task;
      task.path = module.path;
      task.offsets = image.offsets;
      if (module.build_id_kind == BuildIdKind::kGnu) {
        task.build_id = module.build_id;
      }
      tasks.push_back(std::move(task));
    }
    ImageNamesOptions options{options_.places, options_.inlines, options_.jobs};
    if (options.jobs == 0) {
      options.jobs = std::max(1U, std::thread::hardware_concurrency());
    }
    if (progress_ != nullptr) {
      progress_->bytes_total = tasks.size();
    }
    const auto answers = name_images(tasks, options, [this](std::size_t done) {
      if (progress_ == nullptr) {
        return true;
      }
      progress_->bytes_done = done;
      return !progress_->cancelled;
    });
    if (!answers) {
      return answers.error();
    }
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      const ImageAnswer& answer = (*answers)[i];
      const AddedNames::Counts counts =
          names.add(answer.names, {FunctionOwner::kImage, asked.images[i].module, kUnknownTime},
                    tasks[i].offsets);
      ImageReport report;
      report.path = tasks[i].path;
      report.build_id = symbolize::build_id_text(tasks[i].build_id);
      report.found = answer.found;
      report.debug_file = answer.debug_file;
      report.asked = tasks[i].offsets.size();
      report.named = counts.named;
      report.lines = counts.lines;
      report.reason = answer.reason;
      report_.failed_images += answer.failed ? 1 : 0;
      report_.images.push_back(std::move(report));
    }
    return {};
  }

  const SymbolizeOptions& options_;
  ConvertProgress* progress_;
  SymbolizeReport report_;
};

}  // namespace

Result<SymbolizeReport> symbolize_file(const std::string& input, const std::string& output,
                                       const SymbolizeOptions& options, ConvertProgress* progress) {
  return core::guarded([&] { return Run(options, progress).run(input, output); });
}

}  // namespace stackpack::app
