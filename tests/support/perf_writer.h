// Writes perf.data captures for tests: records and headers field by field, either byte order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <zstd.h>

#include "formats/perf/attr.h"
#include "formats/perf/record.h"
#include "support/test_bytes.h"

namespace stackpack::test {

/// The fields of a perf_event_attr that tests vary.
struct TestAttr {
  std::uint32_t type = 1;  // software: cpu-clock
  std::uint64_t config = 0;
  std::uint64_t period = 1;
  std::uint64_t sample_type = perf::sample_bit::kIp | perf::sample_bit::kTid |
                              perf::sample_bit::kTime | perf::sample_bit::kCallchain;
  std::uint64_t read_format = 0;
  std::uint64_t flags = perf::attr_flag::kSampleIdAll;
  std::uint64_t branch_sample_type = 0;
  std::uint64_t sample_regs_user = 0;
  std::uint64_t sample_regs_intr = 0;
  std::uint32_t size = 112;
  std::vector<std::uint64_t> ids;
};

constexpr std::uint64_t kContextKernel = ~std::uint64_t{128} + 1;
constexpr std::uint64_t kContextUser = ~std::uint64_t{512} + 1;
constexpr std::uint64_t kContextUserDeferred = ~std::uint64_t{640} + 1;

class PerfWriter {
 public:
  explicit PerfWriter(bytes::ByteOrder order = bytes::ByteOrder::kLittle) : order_(order) {}

  [[nodiscard]] TestBytes bytes() const { return TestBytes(order_); }

  /// perf_event_attr of attr.size bytes.
  [[nodiscard]] TestBytes attr(const TestAttr& a) const {
    std::uint64_t flags = a.flags;
    if (order_ == bytes::ByteOrder::kBig) {  // bit-fields begin at the other end
      flags = 0;
      for (int bit = 0; bit < 64; ++bit) {
        flags |= ((a.flags >> bit) & 1) << (63 - bit);
      }
    }
    TestBytes out(order_);
    out.u32(a.type).u32(a.size).u64(a.config).u64(a.period).u64(a.sample_type).u64(a.read_format);
    out.u64(flags).zeros(24).u64(a.branch_sample_type).u64(a.sample_regs_user).zeros(8);
    out.u64(a.sample_regs_intr).zeros(8);
    out.bytes.resize(a.size);
    return out;
  }

  [[nodiscard]] TestBytes record(perf::RecordType type, std::uint16_t misc,
                                 const TestBytes& payload) const {
    TestBytes out(order_);
    out.u32(static_cast<std::uint32_t>(type)).u16(misc);
    out.u16(static_cast<std::uint16_t>(8 + payload.bytes.size()));
    return out.append(payload.bytes);
  }

  /// A SAMPLE of the default TestAttr: the stack is in user mode unless the chain says otherwise.
  [[nodiscard]] TestBytes sample(std::uint32_t pid, std::uint32_t tid, std::uint64_t time,
                                 const std::vector<std::uint64_t>& chain) const {
    std::uint64_t ip = 0;
    for (auto entry = chain.rbegin(); entry != chain.rend(); ++entry) {
      ip = *entry < ~std::uint64_t{4095} ? *entry : ip;
    }
    TestBytes payload(order_);
    payload.u64(ip).u32(pid).u32(tid).u64(time).u64(chain.size());
    for (const std::uint64_t entry : chain) {
      payload.u64(entry);
    }
    return record(perf::RecordType::kSample, 2, payload);
  }

  /// HEADER_ATTR of a pipe.
  [[nodiscard]] TestBytes attr_record(const TestAttr& a) const {
    TestBytes payload = attr(a);
    for (const std::uint64_t id : a.ids) {
      payload.u64(id);
    }
    return record(perf::RecordType::kHeaderAttr, 0, payload);
  }

  [[nodiscard]] TestBytes magic(std::string_view version = "PERFILE2") const {
    TestBytes out(order_);
    return out.text(order_ == bytes::ByteOrder::kBig && version == "PERFILE2" ? "2ELIFREP"
                                                                              : version);
  }

  /// A pipe: header, one HEADER_ATTR for each attribute, then `records`.
  [[nodiscard]] std::vector<std::byte> pipe(const std::vector<TestAttr>& attrs,
                                            const std::vector<TestBytes>& records) const {
    TestBytes out = magic();
    out.u64(16);
    for (const TestAttr& a : attrs) {
      out.append(attr_record(a).bytes);
    }
    for (const TestBytes& one : records) {
      out.append(one.bytes);
    }
    return out.bytes;
  }

  struct FileShape {
    std::string_view version = "PERFILE2";
    std::uint64_t header_size = 104;
    bool size_missing = false;                                  // as a killed recorder leaves it
    std::vector<std::pair<std::uint32_t, TestBytes>> features;  // by bit, ascending
  };

  /// A file: header, ids, attributes (all of one size), data, features.
  [[nodiscard]] std::vector<std::byte> file(const std::vector<TestAttr>& attrs,
                                            const std::vector<TestBytes>& records,
                                            const FileShape& shape) const {
    TestBytes body(order_);  // what follows the header
    std::vector<std::uint64_t> id_offsets;
    for (const TestAttr& a : attrs) {
      id_offsets.push_back(shape.header_size + body.bytes.size());
      for (const std::uint64_t id : a.ids) {
        body.u64(id);
      }
    }
    const std::uint64_t attrs_offset = shape.header_size + body.bytes.size();
    for (std::size_t i = 0; i < attrs.size(); ++i) {
      body.append(attr(attrs[i]).bytes).u64(id_offsets[i]).u64(8 * attrs[i].ids.size());
    }
    const std::uint64_t data_offset = shape.header_size + body.bytes.size();
    for (const TestBytes& one : records) {
      body.append(one.bytes);
    }
    const std::uint64_t data_size = shape.header_size + body.bytes.size() - data_offset;
    std::uint64_t content = data_offset + data_size + 16 * shape.features.size();
    std::vector<std::uint64_t> bitmap(4);
    for (const auto& [bit, bytes] : shape.features) {
      bitmap[bit / 64] |= std::uint64_t{1} << (bit % 64);
      body.u64(content).u64(bytes.bytes.size());
      content += bytes.bytes.size();
    }
    for (const auto& [bit, bytes] : shape.features) {
      body.append(bytes.bytes);
    }
    const std::uint64_t entry_size = attrs.empty() ? 128 : attrs.front().size + 16;
    TestBytes out = magic(shape.version);
    out.u64(shape.header_size).u64(entry_size).u64(attrs_offset).u64(entry_size * attrs.size());
    out.u64(data_offset).u64(shape.size_missing ? 0 : data_size).zeros(16);
    for (std::size_t i = 0; i < bitmap.size() && shape.header_size == 104; ++i) {
      out.u64(bitmap[i]);
    }
    return out.append(body.bytes).bytes;
  }
  [[nodiscard]] std::vector<std::byte> file(const std::vector<TestAttr>& attrs,
                                            const std::vector<TestBytes>& records) const {
    return file(attrs, records, FileShape{});
  }

 private:
  bytes::ByteOrder order_;
};

/// An endless zstd stream, flushed after each piece, as `perf record -z` writes it.
class EndlessCompressor {
 public:
  std::vector<std::byte> piece(std::span<const std::byte> content) {
    std::vector<std::byte> out(ZSTD_compressBound(content.size()) + 64);
    ZSTD_inBuffer in{content.data(), content.size(), 0};
    ZSTD_outBuffer target{out.data(), out.size(), 0};
    while (ZSTD_compressStream2(stream_.get(), &target, &in, ZSTD_e_flush) != 0) {
    }
    out.resize(target.pos);
    return out;
  }

 private:
  struct Free {
    void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
  };
  std::unique_ptr<ZSTD_CCtx, Free> stream_{ZSTD_createCCtx()};
};

}  // namespace stackpack::test
