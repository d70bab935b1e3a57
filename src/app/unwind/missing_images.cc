#include "app/unwind/missing_images.h"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <tuple>

#include "core/sort_rows.h"

namespace stackpack::app {

namespace {

// Metadata is sorted by key: numbers of four digits keep the order.
constexpr std::string_view kKeyPrefix = "unwind.missing.";

std::string_view reason_of_image(const ImageStore::Image& image) {
  switch (image.search) {
    case symbolize::SearchEnd::kOtherBuildId:
      return "other-build";
    case symbolize::SearchEnd::kNoBuildId:
      return "no-build-id";
    case symbolize::SearchEnd::kOtherFile:
    case symbolize::SearchEnd::kChanged:
      return "changed";
    case symbolize::SearchEnd::kNotAFile:
      return "not-a-file";
    case symbolize::SearchEnd::kShortage:
      return "not-opened";
    case symbolize::SearchEnd::kNotPlaced:
      return "debug-file-alone";
    default:
      return "no-file";
  }
}

// The text up to the next blank, which is taken off `rest`.
std::string_view take_word(std::string_view& rest) {
  const std::string_view word = rest.substr(0, rest.find(' '));
  rest.remove_prefix(std::min(rest.size(), word.size() + 1));
  return word;
}

}  // namespace

void note_missing_images(std::span<const ImageStore::Image> images,
                         capture::SystemRecorder& system) {
  std::vector<const ImageStore::Image*> missing;
  for (const ImageStore::Image& image : images) {
    if (image.samples != 0) {
      missing.push_back(&image);
    }
  }
  core::sort_rows(missing, [](const ImageStore::Image* a, const ImageStore::Image* b) {
    return std::tie(b->samples, a->path, a->build_id) < std::tie(a->samples, b->path, b->build_id);
  });
  for (std::size_t i = 0; i < std::min(missing.size(), kMostMissingImages); ++i) {
    const ImageStore::Image& image = *missing[i];
    std::string number = std::to_string(i);
    number.insert(0, 4 - std::min<std::size_t>(number.size(), 4), '0');
    std::string text = std::to_string(image.samples);
    text += ' ';
    text += image.build_id.empty() ? "-" : symbolize::build_id_text(image.build_id);
    text += ' ';
    text += reason_of_image(image);
    text += ' ';
    text += image.path;
    system.metadata(std::string(kKeyPrefix) + number, text);
  }
}

std::vector<MissingImage> missing_images(std::span<const MetadataEntry> metadata) {
  std::vector<MissingImage> images;
  for (const MetadataEntry& entry : metadata) {
    if (!entry.key.starts_with(kKeyPrefix)) {
      continue;
    }
    std::string_view rest = entry.value;
    MissingImage image;
    const std::string_view samples = take_word(rest);
    std::from_chars(samples.data(), samples.data() + samples.size(), image.samples);
    image.build_id = take_word(rest);
    image.build_id = image.build_id == "-" ? "" : image.build_id;
    image.reason = take_word(rest);
    image.path = rest;
    images.push_back(std::move(image));
  }
  return images;
}

}  // namespace stackpack::app
