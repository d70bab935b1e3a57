#pragma once

#include <memory>
#include <string>

#include "io/scratch_directory.h"
#include "stackpack/convert.h"
#include "stackpack/reader.h"
#include "stackpack/result.h"

namespace stackpack::app {

/// A .spk file that is open; of a capture, one that was made for the purpose and goes with this.
class PackedCapture {
 public:
  /// What is neither declared to be a capture nor looks like one is taken for a .spk file, so that
  /// its errors are those of a .spk file. Errors: those of Reader::open and of convert.
  static Result<PackedCapture> open(const std::string& path, const ConvertOptions& options,
                                    ConvertProgress* progress = nullptr);

  [[nodiscard]] const Reader& reader() const { return *reader_; }

 private:
  std::unique_ptr<io::ScratchDirectory> scratch_;
  std::unique_ptr<Reader> reader_;
};

}  // namespace stackpack::app
