// The law of every reader of captures: whatever is wrong with the bytes, a reading that gives fewer
// samples than the whole capture has counted a loss or damage, or was refused.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "support/collecting_sink.h"
#include "support/sanitizer.h"

namespace stackpack::test {

/// What one reading gave.
struct LossReading {
  bool refused = false;
  std::size_t samples = 0;
  bool loss = false;  ///< a counter of recorder loss or of damage is above 0
};

inline LossReading loss_reading(const CollectingSink& sink, bool refused) {
  return {refused, sink.rows.size(), sink.counters.any_loss()};
}

/// Reads a capture of one or more files.
using CaptureFiles = std::vector<std::vector<std::byte>>;
using ReadLosses = std::function<LossReading(const CaptureFiles&)>;

/// How many readings of damaged bytes there were, and how they went.
struct LossTally {
  std::size_t readings = 0;
  std::size_t refused = 0;
  std::size_t whole = 0;   ///< all samples and no loss
  std::size_t silent = 0;  ///< against the law
  std::size_t unseen =
      0;  ///< against it, at a place of which it is known that no reader can see it
};

class SilentLossCheck {
 public:
  SilentLossCheck(CaptureFiles intact, ReadLosses read)
      : intact_(std::move(intact)), read_(std::move(read)), whole_(read_(intact_)) {
    REQUIRE_FALSE(whole_.refused);
    REQUIRE_FALSE(whole_.loss);
    REQUIRE(whole_.samples != 0);
  }

  /// Flips a bit of every byte, another one in each: all eight of them at places that differ by 8.
  /// `first_bit` moves them, so that eight calls flip every bit. `unseen`: offsets at which the
  /// flip makes valid data of another meaning, in a format without checksums; the test says which.
  LossTally flip_bits(unsigned first_bit, const std::vector<std::size_t>& unseen = {}) {
    LossTally tally;
    unseen_ = unseen;
    for (std::size_t file = 0; file < intact_.size(); ++file) {
      for (std::size_t at = 0; at < intact_[file].size(); at += byte_step()) {
        const auto bit = static_cast<unsigned>((at * 7 + first_bit) % 8);
        CaptureFiles damaged = intact_;
        damaged[file][at] ^= static_cast<std::byte>(1U << bit);
        judge(damaged, "bit " + std::to_string(bit) + " flipped", file, at, tally);
      }
    }
    unseen_.clear();
    return tally;
  }

  /// Fills each page of `bytes`, one at a time.
  LossTally fill_pages(std::size_t bytes, std::byte value) {
    LossTally tally;
    for (std::size_t file = 0; file < intact_.size(); ++file) {
      for (std::size_t at = 0; at < intact_[file].size(); at += bytes * byte_step()) {
        CaptureFiles damaged = intact_;
        const std::size_t end = std::min(at + bytes, damaged[file].size());
        for (std::size_t i = at; i < end; ++i) {
          damaged[file][i] = value;
        }
        judge(damaged, "page of " + std::to_string(bytes), file, at, tally);
      }
    }
    return tally;
  }

 private:
  void judge(const CaptureFiles& damaged, const std::string& what, std::size_t file, std::size_t at,
             LossTally& tally) {
    const LossReading reading = read_(damaged);
    ++tally.readings;
    tally.refused += reading.refused ? 1U : 0U;
    tally.whole += !reading.refused && !reading.loss && reading.samples >= whole_.samples ? 1U : 0U;
    const bool silent = !reading.refused && !reading.loss && reading.samples < whole_.samples;
    if (std::find(unseen_.begin(), unseen_.end(), at) != unseen_.end()) {
      ++tally.unseen;
      CAPTURE(at);
      CHECK(silent);  // else the place is listed no more
    } else if (silent) {
      ++tally.silent;
      CAPTURE(what);
      CAPTURE(file);
      CAPTURE(at);
      CAPTURE(reading.samples);
      FAIL_CHECK("fewer samples and no counter");
    }
  }

  CaptureFiles intact_;
  ReadLosses read_;
  LossReading whole_;
  std::vector<std::size_t> unseen_;
};

}  // namespace stackpack::test
