// What small parsers say of their inputs, whole and damaged anywhere: descriptions of events and
// their payloads, formats of tracepoints, methods, gates, archives, questions of agents.
#include <cstddef>
#include <cstdint>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "app/mcp/rpc_message.h"
#include "bytes/byte_cursor.h"
#include "bytes/byte_text.h"
#include "capture/payload_decoder.h"
#include "codec/zip_archive.h"
#include "formats/etl/names/event_schemas.h"
#include "formats/etl/names/event_titles.h"
#include "formats/etl/names/method_events.h"
#include "formats/nettrace/payload_fields.h"
#include "formats/perf/task_states.h"
#include "formats/perf/tracepoint_formats.h"
#include "io/byte_source.h"
#include "stackpack/diff.h"
#include "support/damaged_answers.h"

namespace stackpack::test {
namespace {

using Bytes = std::span<const std::byte>;

std::string number(std::uint64_t value) {
  return std::to_string(value) + ' ';
}

std::string payload_answer(const capture::PayloadSchema& schema, Bytes payload) {
  std::string text = number(schema.size());
  capture::PayloadDecoder decoder;
  for (const unsigned pointer_size : {4U, 8U}) {
    text += number(decoder.decode(schema, payload, pointer_size));
    for (const capture::DecodedField& field : decoder.fields()) {
      text += field.name + number(field.is_list);
      for (const capture::PayloadValue& value : field.values) {
        text += number(static_cast<std::uint64_t>(value.form)) + number(value.bits) + value.text;
      }
    }
  }
  return text;
}

std::string described_answer(const capture::PayloadSchemas& schemas, std::string_view key,
                             Bytes payload) {
  const auto* const found = schemas.find(key);
  return found == nullptr ? "none " : payload_answer(found->schema, payload);
}

std::string info_answer(Bytes description, Bytes payload) {
  etl::EventView event;
  event.payload = description;
  capture::PayloadSchemas schemas;
  etl::learn_event_info(event, "P", "P/E", schemas);
  bytes::ByteCursor in(description, 0);
  const etl::Guid provider = etl::read_guid(in);
  const etl::Guid event_class = etl::read_guid(in);
  const auto id = in.read<std::uint16_t>();
  const auto version = in.read<std::uint8_t>();
  in.skip(2);
  const auto opcode = in.read<std::uint8_t>();
  return described_answer(schemas, etl::schema_key(provider, id, version), payload) +
         described_answer(schemas, etl::schema_key(event_class, opcode, version), payload);
}

// As the fuzz target of the same name lays its input out.
std::string event_answer(Bytes data) {
  if (data.size() < 2) {
    return "";
  }
  const Bytes rest = data.subspan(2);
  const Bytes payload =
      rest.last(std::min<std::size_t>(std::to_integer<unsigned>(data[1]), rest.size()));
  const Bytes description = rest.first(rest.size() - payload.size());
  switch (std::to_integer<unsigned>(data[0]) % 6) {
    case 0:
      return payload_answer(nettrace::read_schema(4, description, "My"), payload);
    case 1:
      return payload_answer(nettrace::read_schema(6, description, "My"), payload);
    case 2:
      return payload_answer(nettrace::read_schema(6, description, "Universal.System"), payload);
    case 3:
      return info_answer(description, payload);
    case 4: {
      capture::PayloadSchemas schemas;
      etl::learn_manifest({}, bytes::text_of(description), schemas);
      std::string text;
      for (std::uint16_t id = 0; id < 6; ++id) {
        text += described_answer(schemas, etl::schema_key({}, id, 0), payload);
      }
      return text;
    }
    default: {
      etl::EventView event;
      event.extended = description;
      return payload_answer(etl::trace_logging_schema(event), payload);
    }
  }
}

std::string method_answer(Bytes data) {
  if (data.size() < 2) {
    return "";
  }
  etl::EventView event;
  event.cls = etl::EventClass::kProvider;
  event.pid = 7;
  event.type = 32;
  event.pointer_size = (std::to_integer<unsigned>(data[1]) & 1U) != 0 ? 4 : 8;
  event.version = static_cast<std::uint8_t>(std::to_integer<unsigned>(data[1]) >> 1U);
  event.payload = data.subspan(2);
  event.extended = event.payload;
  std::string text;
  for (unsigned role = 1; role < 9; ++role) {
    etl::MethodReader reader;
    capture::FunctionFact fact;
    text += number(reader.read(event, static_cast<etl::MethodRole>(role), fact));
    text += std::string(fact.name) + number(fact.start) + number(fact.size) + number(fact.id);
  }
  etl::EventTitles titles;
  titles.event_info(event);
  titles.manifest_piece(event);
  text += titles.trace_logging_title(event);
  for (std::uint16_t id = 0; id < 16; ++id) {
    etl::EventKind kind;
    kind.cls = etl::EventClass::kProvider;
    kind.id = id;
    text += titles.title_of(kind) + ' ';
  }
  return text;
}

std::string format_answer(const perf::TracepointFormat& format, Bytes payload) {
  std::string text = format.system + ':' + format.name + ' ';
  for (const auto& [name, field] : format.fields) {
    text += name + ' ' + number(field.offset) + number(field.size) + number(field.is_signed);
    text += number(static_cast<std::uint64_t>(field.content));
    text += number(format.read(bytes::ByteCursor(payload, 0), name).value_or(7));
  }
  const perf::TaskStates states(format.print_format);
  for (std::uint64_t state = 0; state < 0x1000; state = state * 2 + 1) {
    text += states.letters(state) + number(states.preempted(state));
  }
  return text;
}

std::string tracepoint_answer(Bytes data) {
  perf::TracepointFormat format;
  std::string text = number(perf::read_tracepoint_format(bytes::text_of(data), format).value_or(7));
  text += format_answer(format, data);
  text += format_answer({"sched", "sched_switch", {}, std::string(bytes::text_of(data))}, data);
  perf::TracepointFormats formats;
  text += number(perf::read_tracepoint_formats(
      bytes::ByteCursor(data, 0),
      [](std::string_view /*system*/, std::string_view name) { return name != "other"; }, formats));
  for (const auto& [id, known] : formats) {
    text += number(id) + format_answer(known, data);
  }
  return text;
}

std::string gate_answer(Bytes data) {
  std::string problem;
  const auto rules = parse_gate_rules(bytes::text_of(data), &problem);
  if (!rules) {
    return problem + std::string(rules.error().what);
  }
  std::string text = rules->baseline + number(rules->last.value_or(7)) + number(rules->strict);
  for (const GateCondition& one : rules->conditions) {
    text += number(static_cast<std::uint64_t>(one.measure)) + std::to_string(one.limit) + ' ';
    text += number(static_cast<std::uint64_t>(one.figure)) + std::to_string(one.least) + ' ';
    text += one.pattern + ' ' + one.cost_of + ' ' + number(one.whole) + one.text;
  }
  for (const AllowedChange& one : rules->allowed) {
    text += one.pattern + ' ' + number(static_cast<std::uint64_t>(one.measure));
    text += std::to_string(one.limit.value_or(7)) + one.text;
  }
  for (const auto& [before, after] : rules->renames) {
    text += before + '=' + after + ' ';
  }
  return text;
}

std::string condition_answer(Bytes data) {
  std::string problem;
  std::size_t place = 0;
  const auto one = parse_gate_condition(bytes::text_of(data), &problem, &place);
  if (!one) {
    return problem + number(place);
  }
  return number(static_cast<std::uint64_t>(one->measure)) + std::to_string(one->limit) + ' ' +
         number(static_cast<std::uint64_t>(one->figure)) + std::to_string(one->least) + ' ' +
         one->pattern + ' ' + one->cost_of + ' ' + number(one->whole);
}

std::string allowed_answer(Bytes data) {
  const auto allowed = parse_allowed_changes(bytes::text_of(data));
  if (!allowed) {
    return std::string(allowed.error().what) + number(allowed.error().offset);
  }
  std::string text;
  for (const AllowedChange& one : *allowed) {
    text += one.pattern + ' ' + number(static_cast<std::uint64_t>(one.measure));
    text += std::to_string(one.limit.value_or(7)) + one.text;
  }
  return text;
}

std::string archive_answer(Bytes data) {
  const auto source = io::source_of_memory(data);
  const auto archive = codec::ZipArchive::open(*source);
  if (!archive) {
    return std::string(archive.error().what);
  }
  std::string text;
  for (std::size_t i = 0; i < (*archive)->members().size() && i < 20; ++i) {
    const codec::ZipArchive::Member& member = (*archive)->members()[i];
    text += member.name + ' ' + number(member.size) + number(member.compressed_size);
    const auto head = (*archive)->read_head(i, 50);
    text += head ? std::string(bytes::text_of(*head)) : std::string(head.error().what);
    const auto content = (*archive)->read(i, 1 << 16);
    text += content ? std::string(bytes::text_of(*content)) : std::string(content.error().what);
  }
  return text;
}

std::string message_answer(Bytes data) {
  std::stringbuf stream{std::string(bytes::text_of(data))};
  app::MessageLines lines(stream);
  std::string line;
  std::string text;
  for (auto kind = lines.next(line); kind != app::MessageLines::Kind::kEnd;
       kind = lines.next(line)) {
    const app::RpcMessage message(line);
    text += std::to_string(static_cast<int>(message.code())) + ' ' + message.problem() + ' ';
    text += message.id() + ' ' + number(message.is_notification());
    text += number(message.params().IsObject()) + number(static_cast<std::uint64_t>(kind));
  }
  return text;
}

std::vector<std::byte> bytes_of(const std::string& text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

TEST_SUITE("damaged parts") {
  TEST_CASE("a parser says of an input with a byte changed what it said") {
    struct Part {
      const char* folder;
      Answering answer;
    };
    std::string lines;
    for (const Part& part :
         {Part{"event_payloads", event_answer}, Part{"method_events", method_answer},
          Part{"wait_formats", tracepoint_answer}, Part{"gate_file", gate_answer},
          Part{"zip_archive", archive_answer}, Part{"rpc_message", message_answer}}) {
      DamagedFigures figures;
      for (const std::string& path : files_of(std::string("fuzz/corpus/") + part.folder)) {
        add_damaged_answers(source_file(path), 150, part.answer, figures);
      }
      lines += figures.line(part.folder);
    }
    for (const char* const text :
         {"share +1pp", "self share +2.5pp of parse*", "relative +5% from 1%", "total cpu +3%",
          "function of serve!* cpu +5% from 1%", "function cpu +50ms", "self relative -10%",
          "blocked +10ms", "total cycles +2k", "total instructions -1.5%"}) {
      list_damaged_answers(text, bytes_of(text), 60, condition_answer, lines);
    }
    for (const char* const text :
         {"# known\nparse up to +10pp\nrender*\n\n(everything) up to -20%\nx up to +50ms\n"}) {
      list_damaged_answers("allowed", bytes_of(text), 100, allowed_answer, lines);
    }
    check_known_lines(lines, "tests/fuzz_replay/damaged_parts.txt");
  }
}

}  // namespace
}  // namespace stackpack::test
