// One page of several files.

#include <string>

#include "core/guard.h"
#include "export/html/joint_page.h"
#include "export/output/export_output.h"
#include "io/directories.h"
#include "io/files_read.h"
#include "io/output_file.h"
#include "io/output_rules.h"
#include "stackpack/export.h"

namespace stackpack {

namespace {

Error of_output(Error error) {
  error.part = kOutputPart;
  return error;
}

Result<ExportReport> write_page_of(std::span<const std::string> files, const std::string& output,
                                   const ExportOptions& options) {
  io::OutputRules rules;
  rules.force = options.force;
  if (const Status added = io::add_inputs(rules, files); !added) {
    return added.error();
  }
  if (const Status allowed = io::check_output(output, rules); !allowed) {
    return of_output(allowed.error());
  }
  auto file = io::OutputFile::create(output, rules);
  if (!file) {
    return of_output(file.error());
  }
  const std::string scratch = output == "-" ? io::temporary_directory() : io::directory_of(output);
  exporting::ExportOutput out(**file, exporting::ExportOutput::Coding::kPlain);
  ExportReport report;
  if (const Status status = exporting::write_joint_page(files, options, scratch, out, report);
      !status) {
    return status.error();
  }
  Status status = out.finish();
  report.output_bytes = (*file)->offset();
  status = status ? (*file)->commit() : status;
  return status ? Result<ExportReport>(std::move(report)) : of_output(status.error());
}

}  // namespace

Result<ExportReport> export_page(std::span<const std::string> files, const std::string& output,
                                 const ExportOptions& options) {
  const io::FilesRead files_read;
  return core::guarded([&] { return write_page_of(files, output, options); });
}

}  // namespace stackpack
