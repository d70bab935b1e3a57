#include "app/collect/capture_images.h"

#include <utility>

#include "app/convert/capture_input.h"
#include "app/convert/capture_probe.h"
#include "app/unwind/image_store.h"
#include "capture/fact_sink.h"
#include "io/directories.h"
#include "stackpack/reader.h"

namespace stackpack::app {

namespace {

Result<std::vector<Module>> modules_of(const std::string& input, const ConvertOptions& options,
                                       ConvertProgress& progress) {
  if (looks_like_packed(input)) {
    Result<std::unique_ptr<Reader>> reader = Reader::open(input);
    return reader ? (*reader)->modules() : Result<std::vector<Module>>(reader.error());
  }
  Result<CaptureInput> capture = CaptureInput::open(input, options, io::temporary_directory());
  if (!capture) {
    return capture.error();
  }
  progress.bytes_total = capture->size().value_or(0);
  capture::FactSink sink;
  const Result<capture::ByteAccount> account =
      capture->read(sink, {&progress.bytes_done, &progress.cancelled});
  return account ? Result<std::vector<Module>>(sink.system().finish().modules)
                 : Result<std::vector<Module>>(account.error());
}

}  // namespace

Status add_captured_images(const std::string& input, const ConvertOptions& options,
                           ConvertProgress& progress, CapturedImages& images) {
  Result<std::vector<Module>> modules = modules_of(input, options, progress);
  if (!modules) {
    return modules.error();
  }
  for (Module& module : *modules) {
    if (module.pid == kKernelPid || (is_no_file(module.path) && module.path != "[vdso]")) {
      continue;
    }
    const symbolize::ImageMapping mapping = symbolize::mapping_of(module);
    CapturedImage image{{}, std::move(module.path)};
    if (module.build_id_kind == BuildIdKind::kGnu) {
      image.build_id = std::move(module.build_id);
    }
    images[std::move(image)].push_back(mapping);
  }
  return {};
}

}  // namespace stackpack::app
