// Files that a command shows: .spk files as they are, captures packed and named unasked.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/convert/packed_capture.h"
#include "app/symbolize/debuginfod.h"
#include "cli/arguments.h"
#include "cli/messages.h"
#include "cli/shown_progress.h"

namespace stackpack::cli {

/// How captures are packed for a command: with callstacks of their dumps and names of this machine,
/// unless the arguments say otherwise. `path`: of the capture. The messages must outlive it: they
/// say what hides the names of the kernel. So must `progress`, which may be null.
app::PackingOptions packing_of(const CaptureArguments& arguments, const std::string& path,
                               const Messages& messages, ShownProgress* progress = nullptr);

/// Opens what a command shows. Of what can not be opened it says why, in `exit_code`, too.
std::optional<app::PackedCapture> open_shown(const std::string& path,
                                             const CaptureArguments& arguments,
                                             const Messages& messages, int& exit_code,
                                             ShownProgress* progress = nullptr);

/// The same for a page of several: paths of .spk files. Empty: it was said why.
std::vector<app::PackedFile> pack_all(const std::vector<std::string>& paths,
                                      const CaptureArguments& arguments, const Messages& messages,
                                      int& exit_code, ShownProgress* progress = nullptr);

/// What --debuginfod fetched for a capture.
void note_fetched(const std::string& path, const app::FetchReport& fetch, const Messages& messages);

/// Of a .spk file whose functions nobody looked up: says by which command they get names, when
/// standard error is a terminal.
void note_missing_names(const std::string& path, const Reader& reader, const Messages& messages);

}  // namespace stackpack::cli
