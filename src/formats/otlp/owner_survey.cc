#include "formats/otlp/owner_survey.h"

#include "bytes/byte_text.h"
#include "formats/otlp/message_fields.h"
#include "formats/otlp/message_walk.h"
#include <protozero/exception.hpp>

namespace stackpack::otlp {

namespace {

using Owner = ConstantFields::Owner;

void take_owner(std::span<const std::byte> content, Owner owner, OtlpTables* tables,
                OwnerFields& found, bool& damaged) {
  try {
    owner == Owner::kResource ? add_resource(content, tables, found)
                              : add_scope(content, tables, found);
  } catch (const protozero::exception&) {
    damaged = true;
  }
}

FieldValue schema_of(std::span<const std::byte> content, Owner owner) {
  return {owner == Owner::kResource ? "schema.resource" : "schema.scope",
          {AttributeType::kText, 0, std::string(bytes::text_of(content))}};
}

Status survey_owner(io::ByteSource& source, const Field& field, Owner owner,
                    const capture::ReadControl& control, ConstantFields& constants) {
  bool damaged = false;
  const Result<OwnerFields> found =
      owner_fields(source, field.begin, field.end(), owner, control, nullptr, damaged);
  if (!found) {
    return found.error();
  }
  constants.begin(owner);
  for (const FieldValue& value : found->fields) {
    constants.take(owner, value);
  }
  return {};
}

}  // namespace

Result<OwnerFields> owner_fields(io::ByteSource& source, std::uint64_t begin, std::uint64_t end,
                                 Owner owner, const capture::ReadControl& control,
                                 OtlpTables* tables, bool& damaged) {
  OwnerFields found;
  MessageWalk walk(source, begin, end);
  const bool is_resource = owner == Owner::kResource;
  const std::uint32_t described = is_resource ? std::uint32_t{kResource} : std::uint32_t{kScope};
  const std::uint32_t schema =
      is_resource ? std::uint32_t{kResourceSchema} : std::uint32_t{kScopeSchema};
  const Status read = each_field(walk, end, control, [&](const Field& field) -> Status {
    if (!field.has_bytes || (field.number != described && field.number != schema)) {
      return walk.skip(field);
    }
    const auto content = walk.load(field, kMostSmallBytes);
    if (!content) {
      damaged = true;
      return content.error().code == ErrorCode::kLimit ? Status{} : content.error();
    }
    if (field.number == described) {
      take_owner(*content, owner, tables, found, damaged);
    } else if (!content->empty()) {
      found.add(schema_of(*content, owner));
    }
    return {};
  });
  // The walk over the profiles comes to the same damage.
  return read || is_damage(read.error()) ? Result<OwnerFields>(std::move(found))
                                         : Result<OwnerFields>(read.error());
}

Status survey_owners(io::ByteSource& source, std::uint64_t begin, std::uint64_t end,
                     const capture::ReadControl& control, ConstantFields& constants) {
  MessageWalk walk(source, begin, end);
  const Status read = each_field(walk, end, control, [&](const Field& outer) -> Status {
    if (outer.number != kResourceProfiles || !outer.has_bytes) {
      return walk.skip(outer);
    }
    if (const Status status = survey_owner(source, outer, Owner::kResource, control, constants);
        !status) {
      return status;
    }
    return each_field(walk, outer.end(), control, [&](const Field& inner) -> Status {
      const bool is_scope = inner.number == kScopeProfiles && inner.has_bytes;
      const Status status =
          is_scope ? survey_owner(source, inner, Owner::kScope, control, constants) : Status{};
      return status ? walk.skip(inner) : status;
    });
  });
  return read || is_damage(read.error()) ? Status{} : read;
}

}  // namespace stackpack::otlp
