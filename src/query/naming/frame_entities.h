#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "capture/life_index.h"
#include "core/number_table.h"
#include "query/naming/broken_roots.h"
#include "query/naming/code_mode.h"
#include "query/naming/entity_table.h"
#include "query/selection/sample_selection.h"
#include "stackpack/symbols.h"

namespace stackpack::query {

/// What frames are counted by.
enum class FrameGrain : std::uint8_t {
  kFunction,  ///< functions; frames without a name by their module
  kOffset,    ///< functions; frames without a name by module and offset
  kModule,
  kLine,            ///< functions with file and line
  kFile,            ///< source files; code without one by its module
  kUnlinedAddress,  ///< functions with the offsets of code that has no line
  kCodeAddress,     ///< functions with the offsets of their code in images
  kAddress,         ///< every address apart
};

/// What code without a name is counted under: `[module]`, `[kernel]` or `[unknown]`.
std::string code_without_name(const Frame& frame, const CodeLocation& location);

/// Numbers what frames belong to: the same text is the same thing, whichever process it is in.
class FrameEntities {
 public:
  /// The selection must outlive this.
  /// `linkage`: functions are called as the linker has them.
  FrameEntities(const SampleSelection& selection, FrameGrain grain, bool linkage = false)
      : selection_(selection), grain_(grain), linkage_(linkage) {}

  /// With FrameGrain::kModule: images count under what `group_of` says of them, everything else,
  /// and images of which it says nothing, as [MODULE]. Before the first frame.
  void group_modules(std::function<std::string(const Module&)> group_of) {
    group_of_ = std::move(group_of);
  }

  /// Modules and files are apart by function until whole_of, for whoever chooses callstacks and
  /// frames by function. Before the first frame.
  void keep_functions() { keeps_functions_ = true; }
  /// The module or file that an entity is of; others are whole.
  std::uint32_t whole_of(std::uint32_t number);
  /// Very long chains of inlined calls are shortened (inlined_chain.h). Before the first frame.
  void fold_inlined() { folds_inlined_ = true; }

  /// The entities of a frame in a context, innermost inlined call first. Valid until the next call.
  std::span<const std::uint32_t> of(const Frame& frame, AddressUse use, std::uint32_t context);

  /// The use of frame `index` of a callstack in a context.
  [[nodiscard]] AddressUse use_of(std::span<const Frame> leaf_first, std::size_t index,
                                  std::uint32_t context) const {
    const MappingContext& mapping = selection_.contexts()[context];
    return selection_.symbols().use_of(leaf_first, index, mapping.pid, mapping.time_ns);
  }

  /// The entity of frames that BrokenRoots found.
  std::uint32_t broken_root() {
    return number_of({std::string(kBrokenRoot), "", "", CodeMode::kUnknown});
  }

  /// The number of an entity that another one of this kind named.
  std::uint32_t number_of(FrameEntity entity);
  /// An entity was seen as a kind of code.
  void see_as(std::uint32_t number, CodeMode mode) { entities_.see_as(number, mode); }

  [[nodiscard]] const SampleSelection& selection() const { return selection_; }
  [[nodiscard]] const std::vector<FrameEntity>& all() const { return entities_.all(); }
  /// All of them, for another owner: the last call.
  [[nodiscard]] EntityTable take() { return std::move(entities_); }
  /// Frames in contexts that it was asked about and keeps, some 60 bytes each.
  [[nodiscard]] std::size_t frame_count() const { return known_.size(); }

 private:
  struct Key {
    Frame frame;
    AddressUse use = AddressUse::kExact;
    std::uint32_t context = 0;

    friend bool operator==(const Key&, const Key&) = default;
  };
  struct KeyHash {
    std::uint64_t operator()(const Key& key) const;
  };
  struct Range {
    std::uint32_t first = 0;
    std::uint32_t count = 0;
  };

  // The other names of a function.
  std::vector<AliasList> aliases_of(std::string_view name);
  // The module of code that a process makes at run time: `[JIT] node`.
  std::string made_by(const MappingContext& context);
  Range resolve(const Key& key);
  // What a frame counts under by module.
  [[nodiscard]] std::string module_title(const Frame& frame, const Module* image,
                                         const std::string& module) const;
  // What group_of_ makes of a module, or of code that has none.
  std::string group_text(const Module* image, const std::string& module) const;

  const SampleSelection& selection_;
  FrameGrain grain_;
  bool linkage_;
  bool keeps_functions_ = false;
  bool folds_inlined_ = false;
  std::function<std::string(const Module&)> group_of_;
  std::optional<capture::ProcessLives> lives_;
  // By the name of functions; none before one is asked for.
  std::optional<std::unordered_map<std::string_view, AliasList>> aliases_;
  core::NumberTable<Key, KeyHash> known_;
  std::vector<Range> ranges_;         // by number of the key
  std::vector<std::uint32_t> lists_;  // entities, frame after frame
  EntityTable entities_;
  std::vector<std::uint32_t> wholes_;  // by entity, plus one; 0: not asked for yet
  std::vector<InlineFrame> inlined_;
};

}  // namespace stackpack::query
