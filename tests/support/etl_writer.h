// Writes .etl files: everything that a session of the kernel, or a merge of several, would write,
// event by event and buffer by buffer. No buffer but the open ones is kept, so that files of any
// size can be made.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/etl/event/guid.h"
#include "formats/etl/file/log_file_header.h"
#include "support/test_bytes.h"

namespace stackpack::test {

/// 2020-01-01T00:00:00Z as FILETIME.
inline constexpr std::uint64_t kEtlStartFiletime = 132223104000000000;

struct EtlOptions {
  unsigned pointer_size = 8;
  etl::CompressionFormat compression = etl::CompressionFormat::kNone;
  std::uint32_t named_compression = 0;  ///< what the header says; 0: the truth
  std::uint32_t buffer_size = 65536;
  std::uint32_t mode = 1;
  bool wide_processor = true;      ///< false: the processor number as Windows 7 and older write it
  bool old_header_offset = false;  ///< header buffer with SavedOffset 0, as Windows 7 writes it
  std::uint32_t clock_type = 1;
  std::uint64_t frequency = 10'000'000;
  std::uint32_t cpu_mhz = 3000;
  std::uint64_t clock_origin = 1'000'000;
  std::uint64_t start_filetime = kEtlStartFiletime;
  std::uint64_t end_filetime = kEtlStartFiletime + 600'000'000;
  std::uint32_t processors = 2;
  std::uint32_t events_lost = 0;
  std::uint32_t buffers_lost = 0;
  std::string logger_name = "synthetic";
};

/// What is special about the next buffer of a processor.
struct EtlBufferQuirks {
  std::uint16_t type = 0;
  std::uint16_t flags = 0;          ///< or-ed to the usual ones
  std::uint64_t skip_sequence = 0;  ///< sequence numbers left out before it
};

/// One extended data item of a provider event.
struct EtlExtendedItem {
  std::uint16_t type = 0;
  std::vector<std::byte> data;
};

class EtlWriter {
 public:
  using Frames = std::vector<std::uint64_t>;

  /// Writes to `out`, which must be seekable: the header is completed at the end.
  EtlWriter(std::ostream& out, EtlOptions options);

  // The families of event headers. Payloads as they are.
  void perf_info(std::uint16_t cpu, std::uint64_t clock, std::uint8_t group, std::uint8_t type,
                 std::uint8_t version, const TestBytes& payload, unsigned counters = 0);
  void system(std::uint16_t cpu, std::uint64_t clock, std::uint8_t group, std::uint8_t type,
              std::uint8_t version, std::uint32_t tid, std::uint32_t pid, const TestBytes& payload,
              bool compact = false);
  void class_event(std::uint16_t cpu, std::uint64_t clock, const etl::Guid& guid, std::uint8_t type,
                   std::uint16_t version, std::uint32_t tid, std::uint32_t pid,
                   const TestBytes& payload, bool instance = false);
  void provider(std::uint16_t cpu, std::uint64_t clock, const etl::Guid& guid, std::uint16_t id,
                std::uint8_t opcode, std::uint8_t version, std::uint32_t tid, std::uint32_t pid,
                const TestBytes& payload, const std::vector<EtlExtendedItem>& extended = {});
  void message(std::uint16_t cpu, std::uint16_t size);

  // Events of the kernel, in their usual clothes.
  void sample(std::uint16_t cpu, std::uint64_t clock, std::uint32_t tid, std::uint64_t ip,
              std::uint8_t interrupt = 0);
  void context_switch(std::uint16_t cpu, std::uint64_t clock, std::uint32_t new_tid,
                      std::uint32_t old_tid);
  void stack(std::uint16_t cpu, std::uint64_t clock, std::uint64_t event_clock, std::uint32_t pid,
             std::uint32_t tid, const Frames& frames);
  void key_reference(std::uint16_t cpu, std::uint64_t clock, std::uint64_t event_clock,
                     std::uint32_t pid, std::uint32_t tid, std::uint64_t key, bool kernel);
  void key_definition(std::uint16_t cpu, std::uint64_t clock, std::uint64_t key,
                      const Frames& frames, std::uint8_t type = 36);
  void process(std::uint16_t cpu, std::uint64_t clock, std::uint8_t type, std::uint32_t pid,
               std::uint32_t parent, std::string_view name, std::string_view command_line);
  void thread(std::uint16_t cpu, std::uint64_t clock, std::uint8_t type, std::uint32_t pid,
              std::uint32_t tid, std::string_view name = {});
  void image(std::uint16_t cpu, std::uint64_t clock, std::uint8_t type, std::uint32_t pid,
             std::uint64_t base, std::uint64_t size, std::string_view path);
  void rsds(std::uint16_t cpu, std::uint64_t clock, std::uint32_t pid, std::uint64_t base,
            const etl::Guid& guid, std::uint32_t age, std::string_view pdb);
  void volume(std::uint16_t cpu, std::uint64_t clock, std::string_view device,
              std::string_view drive);
  void clr_stack(std::uint16_t cpu, std::uint64_t clock, const etl::Guid& provider,
                 std::uint32_t tid, std::uint32_t pid, const Frames& frames);

  /// Any bytes, as an event of that processor. They are padded to eight.
  void raw(std::uint16_t cpu, std::span<const std::byte> event);

  /// Ends the open buffer of a processor, if it has events.
  void flush(std::uint16_t cpu);
  EtlBufferQuirks& next_buffer(std::uint16_t cpu) { return open_[cpu].quirks; }

  /// Flushes all processors, by number, and completes the header.
  void finish();

  /// An item for provider(): frames (or a key) under a MatchId.
  [[nodiscard]] EtlExtendedItem stack_item(std::uint64_t match_id, const Frames& frames) const;
  [[nodiscard]] EtlExtendedItem key_item(std::uint64_t match_id, std::uint64_t key) const;

  /// Appends a pointer of this file's size.
  void put_pointer(TestBytes& bytes, std::uint64_t value) const;

 private:
  struct OpenBuffer {
    std::vector<std::byte> events;
    EtlBufferQuirks quirks;
  };

  [[nodiscard]] std::vector<std::byte> header_buffer() const;
  [[nodiscard]] std::uint8_t header_type(std::uint8_t type_32, std::uint8_t type_64) const {
    return options_.pointer_size == 4 ? type_32 : type_64;
  }
  void write_buffer(std::uint16_t cpu, OpenBuffer& buffer);

  std::ostream& out_;
  EtlOptions options_;
  std::map<std::uint16_t, OpenBuffer> open_;
  std::uint64_t sequence_ = 0;
  std::uint32_t buffers_ = 1;
};

/// UTF-16 with its NUL.
void put_wide(TestBytes& bytes, std::string_view ascii);

}  // namespace stackpack::test
