// Counts the words of a text that it makes up, and packs the counts: a program to look at in a
// profile.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#define APART __attribute__((noinline))

namespace text {

APART std::string make_up(std::uint32_t seed, int letters) {
  std::string text;
  for (int i = 0; i < letters; ++i) {
    seed = seed * 1664525 + 1013904223;
    text += (seed >> 28) < 3 ? ' ' : static_cast<char>('a' + (seed >> 24) % 7);
  }
  return text;
}

APART bool is_letter(char c) {
  return c >= 'a' && c <= 'z';
}

template <typename Visit>
APART void each_word(const std::string& text, const Visit& visit) {
  std::string word;
  for (const char c : text) {
    if (is_letter(c)) {
      word += c;
    } else if (!word.empty()) {
      visit(word);
      word.clear();
    }
  }
}

}  // namespace text

namespace index {

/// A tree by the letters of words.
class Trie {
 public:
  APART void add(const std::string& word, std::size_t at = 0) {
    if (at == word.size()) {
      ++count_;
      return;
    }
    auto& next = children_[static_cast<std::size_t>(word[at] - 'a')];
    if (!next) {
      next = std::make_unique<Trie>();
    }
    next->add(word, at + 1);
  }

  template <typename Visit>
  APART void visit(const Visit& take, std::string& word) const {
    if (count_ != 0) {
      take(word, count_);
    }
    for (std::size_t i = 0; i < 26; ++i) {
      if (children_[i]) {
        word += static_cast<char>('a' + i);
        children_[i]->visit(take, word);
        word.pop_back();
      }
    }
  }

 private:
  std::unique_ptr<Trie> children_[26];
  int count_ = 0;
};

struct Entry {
  std::string word;
  int count = 0;
};

APART bool is_before(const Entry& a, const Entry& b) {
  return a.count != b.count ? a.count > b.count : a.word < b.word;
}

APART void sort_by_count(std::vector<Entry>& entries) {
  std::sort(entries.begin(), entries.end(), is_before);
}

}  // namespace index

namespace pack {

APART std::uint32_t checksum(const std::string& bytes) {
  std::uint32_t sum = 2166136261;
  for (const char c : bytes) {
    for (int round = 0; round < 8; ++round) {
      sum = (sum ^ static_cast<unsigned char>(c)) * 16777619 + static_cast<std::uint32_t>(round);
    }
  }
  return sum;
}

APART std::string front_coded(const std::vector<index::Entry>& entries) {
  std::string out;
  std::string before;
  for (const index::Entry& entry : entries) {
    const auto same =
        std::mismatch(entry.word.begin(), entry.word.end(), before.begin(), before.end());
    out += static_cast<char>('0' + (same.first - entry.word.begin()));
    out.append(same.first, entry.word.end());
    before = entry.word;
  }
  return out;
}

}  // namespace pack

int main(int count, char** arguments) {
  const int rounds = count > 1 ? std::atoi(arguments[1]) : 20;
  std::uint32_t sum = 0;
  for (int round = 0; round < rounds; ++round) {
    const std::string text = text::make_up(static_cast<std::uint32_t>(round), 120000);
    index::Trie words;
    text::each_word(text, [&words](const std::string& word) { words.add(word); });
    std::vector<index::Entry> entries;
    std::string word;
    words.visit(
        [&entries](const std::string& found, int times) {
          entries.push_back({found, times});
        },
        word);
    index::sort_by_count(entries);
    sum ^= pack::checksum(pack::front_coded(entries));
  }
  std::printf("%08x\n", sum);
}
