// Instructions of functions, with what the samples say of each.
#pragma once

#include <functional>

#include "app/analysis/annotation.h"
#include "app/analysis/hot_spot_query.h"
#include "stackpack/reader.h"
#include "stackpack/result.h"
#include "symbolize/symbol_files.h"

namespace stackpack::app {

/// Where the bytes of code are looked for.
struct CodePlaces {
  symbolize::SymbolPlaces files;
  bool unconfined = false;  ///< read code also where the kernel does not confine its reader
};

/// Adds the instructions of those functions that `wants`, from the files of their images: each with
/// a build id, and the recorded one. A caller counts at its call.
/// Errors: as hot_spots; kResource.
Status add_code(const Reader& reader, const HotSpotQuery& query, const CodePlaces& places,
                const std::function<bool(const AnnotatedFunction&)>& wants, Annotation& annotation);

}  // namespace stackpack::app
