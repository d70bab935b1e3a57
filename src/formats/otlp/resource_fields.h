// What a resource and a scope say of all profiles below them, and what of it is the same in a whole
// file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "capture/system_recorder.h"
#include "formats/otlp/attribute_value.h"

namespace stackpack::otlp {

class OtlpTables;

inline constexpr std::string_view kResourcePrefix = "resource.";
inline constexpr std::string_view kScopePrefix = "scope.";
inline constexpr std::string_view kProfilePrefix = "profile.";

/// At most kMost fields; more are others.
struct OwnerFields {
  static constexpr std::size_t kMost = 4096;

  std::vector<FieldValue> fields;
  std::uint64_t not_kept = 0;  ///< others that they have

  void add(FieldValue field) {
    if (fields.size() < kMost) {
      fields.push_back(std::move(field));
    } else {
      ++not_kept;
    }
  }
};

/// Adds the fields of a Resource. `tables`: the dictionary to which keys and values may refer,
/// counting what is not in it; null: such have no names. Throws what protozero throws.
void add_resource(std::span<const std::byte> content, OtlpTables* tables, OwnerFields& found);
/// Those of an InstrumentationScope: `scope.name`, `scope.version`, its attributes.
void add_scope(std::span<const std::byte> content, OtlpTables* tables, OwnerFields& found);

/// Finds out which fields all resources, or all scopes, of a file have with the same value. Those
/// are metadata; the others are told for each sample.
///
/// Use: begin() and take() for each resource and scope; then is_constant(), tell().
/// Memory: kMostBytes, about; fields beyond are no constants.
class ConstantFields {
 public:
  static constexpr std::size_t kMostBytes = std::size_t{4} << 20;
  static constexpr std::size_t kLongestText = 4096;

  enum class Owner : std::uint8_t { kResource, kScope };

  void begin(Owner owner) { ++(owner == Owner::kResource ? resources_ : scopes_); }
  void take(Owner owner, const FieldValue& field);

  [[nodiscard]] bool is_constant(const FieldValue& field) const;

  void tell(capture::SystemRecorder& system) const;

 private:
  struct Seen {
    AttributeValue value;
    std::uint64_t count = 0;
    std::uint64_t latest = 0;  // number of the owner that had it last
    bool differs = false;
    Owner owner = Owner::kResource;
  };

  [[nodiscard]] std::uint64_t owners(Owner owner) const {
    return owner == Owner::kResource ? resources_ : scopes_;
  }
  [[nodiscard]] bool is_constant(const Seen& seen) const {
    return !seen.differs && seen.count == owners(seen.owner);
  }

  std::map<std::string, Seen, std::less<>> fields_;
  std::size_t bytes_ = 0;
  std::uint64_t resources_ = 0;
  std::uint64_t scopes_ = 0;
};

}  // namespace stackpack::otlp
