#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stackpack/model.h"
#include "stackpack/sources.h"

namespace stackpack::app {

/// What the sources of a merge say of their resources and scopes: metadata `otlp.KEY`.
///
/// A merged file has what all its sources say alike under the same key, and the rest as
/// `source.N.otlp.KEY`, N being the row of the source. As both are taken apart into sources again
/// when the file is merged itself, neither the order nor the grouping of the inputs shows.
class SourceMetadata {
 public:
  /// Whether a key is one of these: nothing else keeps it.
  static bool has(std::string_view key);

  /// Those of an input; `sources`: its own, of a file that is none of a merge the file itself.
  /// Where inputs say different things of one source, the greater text stays.
  void add(std::span<const MergedSource> sources, std::span<const MetadataEntry> metadata);

  /// Adds the rows of a file with these sources, by key.
  void tell(std::span<const MergedSource> sources,
            std::map<std::string, std::string>& metadata) const;

 private:
  using Facts = std::map<std::string, std::string, std::less<>>;

  [[nodiscard]] Facts common(std::span<const MergedSource> sources) const;

  std::map<MergedSource::Hash, Facts> facts_;
};

}  // namespace stackpack::app
