#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "stackpack/reader.h"

namespace stackpack::app {

/// Of how many images of a file this machine has the files that name their functions.
struct NameOutlook {
  std::size_t images = 0;
  std::size_t found = 0;
  /// Of the samples, by the module of their leaf; nothing where counting them takes too long.
  std::optional<double> share;
};

/// The share of the samples, as `top` counts them, whose leaf is in a function with a name. Nothing
/// where there is no sample with a callstack. Errors are nothing, too: it is for people.
std::optional<double> share_of_named_samples(const Reader& reader);

/// Looks whether files are there and what their build ids are, and into no symbol table. Of a file
/// with more than some hundred images no one is looked for: a look at each takes some 20 us.
/// `capture`: what the file was made of just now; the same files are believed as by naming it.
NameOutlook name_outlook(const Reader& reader, const std::string& capture);

}  // namespace stackpack::app
