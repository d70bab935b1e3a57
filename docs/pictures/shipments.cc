// What two pictures of docs/pictures.md and the figures of docs/questions.md are a profile of: a
// program of many templates. Lines of text become shipments, which a chain of stages filters,
// prices by an expression of types, and adds up by key.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <random>
#include <regex>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

namespace freight {

struct Parcel {
  double kilos;
};
struct Pallet {
  double kilos;
  int layers;
};
struct Container {
  std::string seal;
  std::vector<Pallet> pallets;
};
using Cargo = std::variant<Parcel, Pallet, Container>;

struct Shipment {
  std::string from;
  std::string to;
  int day;
  Cargo cargo;
};

namespace expr {

template <class Left, class Right, class Operation>
struct Binary {
  Left left;
  Right right;
  [[gnu::noinline]] double operator()(const Shipment& shipment) const {
    return Operation{}(left(shipment), right(shipment));
  }
};
template <class Function>
struct Term {
  Function function;
  [[gnu::noinline]] double operator()(const Shipment& shipment) const { return function(shipment); }
};
template <class F>
Term(F) -> Term<F>;
template <class L, class R>
auto operator+(L l, R r) {
  return Binary<L, R, std::plus<>>{l, r};
}
template <class L, class R>
auto operator*(L l, R r) {
  return Binary<L, R, std::multiplies<>>{l, r};
}

}  // namespace expr

template <class... Stages>
class Pipeline {
 public:
  explicit Pipeline(Stages... stages) : stages_(std::move(stages)...) {}
  template <class Range>
  [[gnu::noinline]] auto run(const Range& range) const {
    return step<0>(range);
  }

 private:
  template <std::size_t Index, class Range>
  [[gnu::noinline]] auto step(const Range& range) const {
    if constexpr (Index == sizeof...(Stages)) {
      return range;
    } else {
      return step<Index + 1>(std::get<Index>(stages_)(range));
    }
  }
  std::tuple<Stages...> stages_;
};

template <class Predicate>
struct Filter {
  Predicate keep;
  template <class Item>
  [[gnu::noinline]] std::vector<Item> operator()(const std::vector<Item>& items) const {
    std::vector<Item> kept;
    std::copy_if(items.begin(), items.end(), std::back_inserter(kept), keep);
    return kept;
  }
};

template <class KeyOf, class ValueOf>
struct GroupSum {
  KeyOf key_of;
  ValueOf value_of;
  template <class Item>
  [[gnu::noinline]] auto operator()(const std::vector<Item>& items) const {
    std::map<std::decay_t<decltype(key_of(items.front()))>, double> sums;
    for (const Item& item : items) {
      sums[key_of(item)] += value_of(item);
    }
    return sums;
  }
};

template <class Less>
struct SortedBy {
  Less less;
  template <class Key, class Value>
  [[gnu::noinline]] std::vector<std::pair<Key, Value>> operator()(
      const std::map<Key, Value>& map) const {
    std::vector<std::pair<Key, Value>> rows(map.begin(), map.end());
    std::stable_sort(rows.begin(), rows.end(), less);
    return rows;
  }
};
template <class P>
Filter(P) -> Filter<P>;
template <class K, class V>
GroupSum(K, V) -> GroupSum<K, V>;
template <class L>
SortedBy(L) -> SortedBy<L>;

struct Weigh {
  double operator()(const Parcel& parcel) const { return parcel.kilos; }
  double operator()(const Pallet& pallet) const { return pallet.kilos * std::sqrt(pallet.layers); }
  double operator()(const Container& container) const {
    return std::accumulate(
        container.pallets.begin(), container.pallets.end(), 3800.0,
        [this](double sum, const Pallet& pallet) { return sum + (*this)(pallet); });
  }
};

std::vector<std::string> make_lines(std::size_t count) {
  static constexpr const char* kPorts[] = {"Rotterdam", "Singapore", "Santos", "Durban",
                                           "Busan",     "Oakland",   "Gdansk"};
  std::mt19937 random(7);
  std::vector<std::string> lines;
  for (std::size_t k = 0; k < count; ++k) {
    const char* kind = random() % 3 == 0 ? "parcel" : random() % 2 == 0 ? "pallet" : "container";
    lines.push_back(std::string(kPorts[random() % 7]) + ">" + kPorts[random() % 7] +
                    " day=" + std::to_string(random() % 365) + " " + kind +
                    " kg=" + std::to_string(random() % 20000));
  }
  return lines;
}

[[gnu::noinline]] std::optional<Shipment> parse(const std::string& line) {
  static const std::regex kLine(R"((\w+)>(\w+) day=(\d+) (parcel|pallet|container) kg=(\d+))");
  std::smatch part;
  if (!std::regex_match(line, part, kLine)) {
    return std::nullopt;
  }
  const double kilos = std::stod(part[5]);
  Cargo cargo = Parcel{kilos};
  if (part[4] == "pallet") {
    cargo = Pallet{kilos, 4};
  } else if (part[4] == "container") {
    cargo = Container{"seal " + std::to_string(line.size()),
                      std::vector<Pallet>(20, Pallet{kilos / 20, 4})};
  }
  return Shipment{part[1], part[2], std::stoi(part[3]), std::move(cargo)};
}

[[gnu::noinline]] double report(const std::vector<Shipment>& shipments) {
  const auto weight =
      expr::Term{[](const Shipment& shipment) { return std::visit(Weigh{}, shipment.cargo); }};
  const auto season =
      expr::Term{[](const Shipment& shipment) { return 1.2 + std::sin(shipment.day / 58.0); }};
  const auto toll = expr::Term{[](const Shipment& shipment) {
    return static_cast<double>(std::hash<std::string>{}(shipment.to) % 100);
  }};
  const Pipeline pipeline(
      Filter{[](const Shipment& shipment) { return shipment.from != shipment.to; }},
      GroupSum{[](const Shipment& shipment) {
                 return std::tuple(shipment.from, shipment.to, shipment.day / 7);
               },
               weight * season + toll},
      SortedBy{[](const auto& left, const auto& right) { return left.second > right.second; }});
  const auto rows = pipeline.run(shipments);
  return rows.front().second;
}

}  // namespace freight

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 10;
  const std::vector<std::string> lines = freight::make_lines(40000);
  double sum = 0;
  for (int round = 0; round < rounds; ++round) {
    std::vector<freight::Shipment> shipments;
    for (const std::string& line : lines) {
      if (auto shipment = freight::parse(line)) {
        shipments.push_back(std::move(*shipment));
      }
    }
    for (int again = 0; again < 5; ++again) {
      sum += freight::report(shipments);
    }
  }
  std::printf("%g\n", sum);
}
