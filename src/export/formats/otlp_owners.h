// The resources and scopes of an OTLP message: what profiles of one process or container have in
// common.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "export/formats/otlp_sample_fields.h"
#include "stackpack/model.h"

namespace stackpack::exporting {

/// Sorts the fields of samples by what has them, and writes those of resources and scopes.
class OtlpOwners {
 public:
  /// The resource, scope and Profile of samples. Those of one resource have one source and number.
  struct Owner {
    std::uint32_t source = 0;  ///< of a merged file; 0 where sources say nothing of their own
    std::uint32_t resource = 0;
    std::uint32_t scope = 0;
    std::uint32_t profile = 0;

    // NOLINTNEXTLINE(modernize-use-nullptr): the compiler's own comparison
    friend auto operator<=>(const Owner&, const Owner&) = default;
  };
  /// Fields of a set by what has them; keys without their prefixes.
  struct Split {
    Owner owner;
    std::vector<OtlpField> sample;
    std::string trace_id;  ///< bytes; empty with span_id: there is no link
    std::string span_id;
  };

  /// `metadata`: where the fields stand that all samples have in common.
  explicit OtlpOwners(std::span<const MetadataEntry> metadata);

  Split split(const OtlpSampleFields& fields, std::uint32_t set);

  /// Whether sources of a merged file say something of their own.
  [[nodiscard]] bool any_by_source() const { return !by_source_.empty(); }

  /// What Profiles of an owner have besides.
  struct ProfileFields {
    std::vector<OtlpField> attributes;
    std::string id;  ///< bytes; empty: none
  };
  [[nodiscard]] ProfileFields profile_fields(const Owner& owner) const;
  /// The message of a Resource with its field head; empty when there is nothing in it.
  [[nodiscard]] std::string resource(const Owner& owner) const;
  /// The same of a scope.
  [[nodiscard]] std::string scope(const Owner& owner) const;
  /// Fields of ResourceProfiles and ScopeProfiles that stand after all others.
  [[nodiscard]] std::string resource_schema(const Owner& owner) const;
  [[nodiscard]] std::string scope_schema(const Owner& owner) const;

 private:
  // Lists of fields, each once.
  class Lists {
   public:
    Lists() { number_of({}); }
    std::uint32_t number_of(const std::vector<OtlpField>& fields);
    [[nodiscard]] const std::vector<OtlpField>& list(std::uint32_t number) const {
      return lists_[number];
    }

   private:
    std::vector<std::vector<OtlpField>> lists_;
    std::map<std::vector<OtlpField>, std::uint32_t> numbers_;
  };

  // What all samples have in common, of a file or of a source.
  struct Constants {
    std::vector<OtlpField> resource;
    std::vector<OtlpField> scope;
  };
  using FieldLists = std::array<std::span<const OtlpField>, 3>;

  void take_constant(const MetadataEntry& entry);
  static void take_field(std::string_view key, const std::string& value, Constants& constants);
  [[nodiscard]] FieldLists resource_fields(const Owner& owner) const;
  [[nodiscard]] FieldLists scope_fields(const Owner& owner) const;
  [[nodiscard]] const Constants& of_source(const Owner& owner) const;

  Constants all_;
  std::map<std::uint32_t, Constants> by_source_;
  Lists resources_;
  Lists scopes_;
  Lists profiles_;
};

}  // namespace stackpack::exporting
