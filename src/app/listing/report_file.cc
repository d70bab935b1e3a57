#include "app/listing/report_file.h"

#include <filesystem>
#include <system_error>

#include "io/output_file.h"
#include "io/output_rules.h"
#include "io/utf8_path.h"

namespace stackpack::app {

namespace {

Status written(const ReportFile& file, std::string_view text) {
  io::OutputRules rules;
  rules.force = file.force;
  if (const Status added = io::add_inputs(rules, file.inputs); !added) {
    return added;
  }
  io::remove_leftovers({&file.path, 1});
  auto output = io::OutputFile::create(file.path, rules);
  if (!output) {
    return output.error();
  }
  const Status done = (*output)->write(std::as_bytes(std::span(text)));
  return done ? (*output)->commit() : done;
}

}  // namespace

Status write_report_file(const ReportFile& file, std::string_view text) {
  const Status done = written(file, text);
  if (done) {
    return done;
  }
  Error error = done.error();
  error.part = kOutputPart;
  return error;
}

std::string working_directory() {
  std::error_code unknown;
  return io::text_of(std::filesystem::current_path(unknown));
}

std::string path_beside(const std::string& file, const std::string& path) {
  return io::text_of(io::path_of(file).parent_path() / io::path_of(path));
}

}  // namespace stackpack::app
