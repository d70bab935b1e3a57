#include "export/formats/otlp_owners.h"

#include <bit>
#include <charconv>
#include <optional>
#include <utility>

#include "export/formats/otlp_fields.h"

namespace stackpack::exporting {

namespace {

constexpr std::string_view kResource = "resource.";
constexpr std::string_view kScope = "scope.";
constexpr std::string_view kProfile = "profile.";
constexpr std::string_view kResourceSchema = "schema.resource";
constexpr std::string_view kScopeSchema = "schema.scope";
constexpr std::string_view kTrace = "link.trace_id";
constexpr std::string_view kSpan = "link.span_id";
constexpr std::string_view kProfileId = "id.profile";
constexpr std::string_view kConstant = "otlp.";
constexpr std::string_view kSource = "source.";

// The bytes of hexadecimal digits; nothing: the text is something else.
std::optional<std::string> bytes_of_hex(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i + 2 <= text.size(); i += 2) {
    std::uint8_t byte = 0;
    const char* const end = text.data() + i + 2;
    const auto parsed = std::from_chars(text.data() + i, end, byte, 16);
    if (parsed.ec != std::errc() || parsed.ptr != end) {
      return std::nullopt;
    }
    result += static_cast<char>(byte);
  }
  return text.size() % 2 == 0 ? std::optional(result) : std::nullopt;
}

bool take_ending(std::string& name, std::string_view ending) {
  if (!name.ends_with(ending)) {
    return false;
  }
  name.resize(name.size() - ending.size());
  return true;
}

// A value of metadata, whose key says at its end which type it has.
OtlpValue value_of(std::string& name, const std::string& text) {
  OtlpValue value;
  const char* const end = text.data() + text.size();
  std::int64_t number = 0;
  double real = 0;
  if (take_ending(name, "#real")) {
    std::from_chars(text.data(), end, real);
    value = {OtlpValue::Type::kReal, std::bit_cast<std::uint64_t>(real), {}};
  } else if (take_ending(name, "#int")) {
    std::from_chars(text.data(), end, number);
    value = {OtlpValue::Type::kInteger, static_cast<std::uint64_t>(number), {}};
  } else if (take_ending(name, "#bool")) {
    value = {OtlpValue::Type::kBool, text == "1" ? std::uint64_t{1} : 0, {}};
  } else {
    value.text = text;
  }
  return value;
}

// The part of a name after a prefix; empty: it has another one.
std::string_view after(std::string_view name, std::string_view prefix) {
  return name.starts_with(prefix) ? name.substr(prefix.size()) : std::string_view();
}

template <typename Lists>
std::string schema_text(const Lists& lists, std::string_view name, std::uint32_t number) {
  std::string text;
  for (const auto& fields : lists) {
    for (const OtlpField& field : fields) {
      if (field.name == name) {
        protozero::pbf_writer(text).add_string(number, field.value.text);
      }
    }
  }
  return text;
}

void write_attribute(protozero::pbf_writer& owner, std::uint32_t number, const OtlpField& field,
                     std::string_view key) {
  protozero::pbf_writer attribute(owner, number);
  attribute.add_string(otlp::key_value::kKey, key.data(), key.size());
  protozero::pbf_writer value(attribute, otlp::key_value::kValue);
  write_value(value, field.value);
}

void write_scope_field(protozero::pbf_writer& scope, const OtlpField& field) {
  const std::string_view key = after(field.name, kScope);
  const bool is_text = field.value.type == OtlpValue::Type::kText;
  if (is_text && (key == "name" || key == "version")) {
    scope.add_string(key == "name" ? otlp::scope::kName : otlp::scope::kVersion, field.value.text);
  } else if (!key.empty()) {
    write_attribute(scope, otlp::scope::kAttributes, field, key);
  }
}

}  // namespace

std::uint32_t OtlpOwners::Lists::number_of(const std::vector<OtlpField>& fields) {
  const auto [known, fresh] =
      numbers_.try_emplace(fields, static_cast<std::uint32_t>(lists_.size()));
  if (fresh) {
    lists_.push_back(fields);
  }
  return known->second;
}

OtlpOwners::OtlpOwners(std::span<const MetadataEntry> metadata) {
  for (const MetadataEntry& entry : metadata) {
    take_constant(entry);
  }
}

// `host.name`, `otlp.KEY`, and of a merged file `source.N.otlp.KEY`.
void OtlpOwners::take_constant(const MetadataEntry& entry) {
  if (entry.key == "host.name") {
    all_.resource.push_back({"resource.host.name", {OtlpValue::Type::kText, 0, entry.value}});
    return;
  }
  const std::string_view rest = after(entry.key, kSource);
  if (rest.empty()) {
    take_field(entry.key, entry.value, all_);
    return;
  }
  std::uint32_t source = 0;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), source);
  const auto digits = static_cast<std::size_t>(end - rest.data());
  if (error == std::errc() && rest.substr(digits).starts_with('.') &&
      rest.substr(digits + 1).starts_with(kConstant)) {
    take_field(rest.substr(digits + 1), entry.value, by_source_[source]);
  }
}

void OtlpOwners::take_field(std::string_view key, const std::string& value, Constants& constants) {
  OtlpField field{std::string(after(key, kConstant)), {}};
  field.value = value_of(field.name, value);
  if (field.name.starts_with(kResource) || field.name == kResourceSchema) {
    constants.resource.push_back(std::move(field));
  } else if (field.name.starts_with(kScope) || field.name == kScopeSchema) {
    constants.scope.push_back(std::move(field));
  }
}

const OtlpOwners::Constants& OtlpOwners::of_source(const Owner& owner) const {
  static const Constants none;
  const auto found = by_source_.find(owner.source);
  return found == by_source_.end() ? none : found->second;
}

OtlpOwners::FieldLists OtlpOwners::resource_fields(const Owner& owner) const {
  return {all_.resource, of_source(owner).resource, resources_.list(owner.resource)};
}

OtlpOwners::FieldLists OtlpOwners::scope_fields(const Owner& owner) const {
  return {all_.scope, of_source(owner).scope, scopes_.list(owner.scope)};
}

OtlpOwners::Split OtlpOwners::split(const OtlpSampleFields& fields, std::uint32_t set) {
  Split split;
  std::vector<OtlpField> resource;
  std::vector<OtlpField> scope;
  std::vector<OtlpField> profile;
  std::vector<OtlpField> link;
  bool good_link = true;
  for (const std::uint32_t number : fields.set(set)) {
    const OtlpField& field = fields.field(number);
    if (field.name.starts_with(kResource) || field.name == kResourceSchema) {
      resource.push_back(field);
    } else if (field.name.starts_with(kScope) || field.name == kScopeSchema) {
      scope.push_back(field);
    } else if (field.name.starts_with(kProfile) || field.name == kProfileId) {
      profile.push_back(field);
    } else if (field.name == kTrace || field.name == kSpan) {
      const std::optional<std::string> id = bytes_of_hex(field.value.text);
      good_link = good_link && id.has_value();
      (field.name == kTrace ? split.trace_id : split.span_id) = id.value_or(std::string());
      link.push_back(field);
    } else {
      split.sample.push_back(field);
    }
  }
  if (!good_link) {  // stand-ins for identities that were taken out
    split.trace_id.clear();
    split.span_id.clear();
    split.sample.insert(split.sample.end(), link.begin(), link.end());
  }
  split.owner = {0, resources_.number_of(resource), scopes_.number_of(scope),
                 profiles_.number_of(profile)};
  return split;
}

// An identity that is none, a stand-in of one that was taken out, is not written.
OtlpOwners::ProfileFields OtlpOwners::profile_fields(const Owner& owner) const {
  ProfileFields found;
  for (const OtlpField& field : profiles_.list(owner.profile)) {
    if (field.name == kProfileId) {
      found.id = bytes_of_hex(field.value.text).value_or(std::string());
    } else {
      found.attributes.push_back({std::string(after(field.name, kProfile)), field.value});
    }
  }
  return found;
}

std::string OtlpOwners::resource(const Owner& owner) const {
  std::string content;
  protozero::pbf_writer writer(content);
  for (const auto& fields : resource_fields(owner)) {
    for (const OtlpField& field : fields) {
      if (const std::string_view key = after(field.name, kResource); !key.empty()) {
        write_attribute(writer, otlp::resource::kAttributes, field, key);
      }
    }
  }
  std::string message;
  if (!content.empty()) {
    protozero::pbf_writer(message).add_message(otlp::resource_profiles::kResource, content);
  }
  return message;
}

std::string OtlpOwners::scope(const Owner& owner) const {
  std::string message;
  {
    protozero::pbf_writer writer(message);
    protozero::pbf_writer scope(writer, otlp::scope_profiles::kScope);
    bool named = false;
    for (const auto& fields : scope_fields(owner)) {
      for (const OtlpField& field : fields) {
        named = named || field.name == "scope.name";
        write_scope_field(scope, field);
      }
    }
    if (!named) {
      scope.add_string(otlp::scope::kName, "stackpack");
    }
  }
  return message;
}

std::string OtlpOwners::resource_schema(const Owner& owner) const {
  return schema_text(resource_fields(owner), kResourceSchema, otlp::resource_profiles::kSchema);
}

std::string OtlpOwners::scope_schema(const Owner& owner) const {
  return schema_text(scope_fields(owner), kScopeSchema, otlp::scope_profiles::kSchema);
}

}  // namespace stackpack::exporting
