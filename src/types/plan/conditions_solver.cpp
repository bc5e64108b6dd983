// Whether literals can be true together: equal terms by congruence closure, integers by difference constraints, texts
// and f64 by their order. Each step only draws conclusions that always hold, so that "impossible" is certain.

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "base/utf8.h"
#include "types/plan/conditions_nodes.h"

namespace tenon::types {
namespace {

/// Larger systems are possible, as far as known.
constexpr std::size_t integer_terms_max = 48;
constexpr std::size_t ordered_terms_max = 64;

/// To enter a node takes about as long as to copy this many literals, and to copy one as long as this many tries at a
/// shorter path.
constexpr std::size_t node_steps = 4;
constexpr std::size_t path_steps = 16;

/// The sum of two upper bounds; `integer_highest` is none. A sum below the limits becomes a weaker bound.
std::int64_t add_bounds(std::int64_t left, std::int64_t right) {
  if (left == integer_highest || right == integer_highest) return integer_highest;
  std::int64_t sum = 0;
  if (!__builtin_add_overflow(left, right, &sum)) return sum;
  return left < 0 ? integer_lowest : integer_highest;
}

class Solver {
 public:
  Solver(const std::vector<Literal>& literals, ComparisonSteps& steps) : literals_(literals), steps_(steps) {
    for (const Literal& literal : literals) {
      add(*literal.atom->left);
      if (literal.atom->right) add(*literal.atom->right);
    }
    for (std::size_t at = 0; at < nodes_.size(); ++at) {
      const std::vector<std::string> values = nodes_[at].values;  // nodes are added
      for (const std::string& value : values) add_constant(value);
    }
  }

  bool is_possible() {
    for (const Literal& literal : literals_) {
      const Atom& atom = *literal.atom;
      if (literal.is_negated) continue;
      if (atom.kind == Atom::Kind::Equal) join(find(*atom.left), find(*atom.right));
      if (atom.kind != Atom::Kind::Integer || atom.integers.low != atom.integers.high) continue;
      if (atom.right && atom.integers.low == 0) join(find(*atom.left), find(*atom.right));
      const auto number = index_.find(std::to_string(atom.integers.low));
      if (!atom.right && number != index_.end()) join(find(*atom.left), number->second);
    }
    do {
      if (!steps_.take(node_steps * nodes_.size())) return true;
      has_changed_ = false;
      close_congruence();
      if (!restrict_values()) return false;
    } while (has_changed_);
    return are_integers_possible() && is_order_possible();
  }

 private:
  struct Node {
    std::string text;
    std::string head;
    std::vector<std::size_t> parts;
    bool is_constant = false;
    bool is_integer = false;
    std::optional<std::string> content;  ///< of a constant text
    Integers range;
    std::vector<std::string> values;
    std::size_t parent = 0;  ///< of the union-find structure
  };

  std::size_t add(const Term& term) {
    const auto [found, is_new] = index_.emplace(term.text, nodes_.size());
    const std::size_t at = found->second;
    if (is_new) {
      nodes_.push_back(
          {term.text, term.head, {}, term.is_constant, term.is_integer, term.content, term.range, term.values, at});
      std::vector<std::size_t> parts;
      for (const TermPointer& part : term.parts) parts.push_back(add(*part));
      nodes_[at].parts = std::move(parts);
      return at;
    }
    // The same value, read through another type.
    Node& node = nodes_[at];
    node.is_integer |= term.is_integer;
    node.range = node.range & term.range;
    if (!node.content) node.content = term.content;
    if (node.values.empty()) node.values = term.values;
    return at;
  }

  std::size_t add_constant(const std::string& text) {
    Term term;
    term.text = term.head = text;
    term.is_constant = true;
    return add(term);
  }

  [[nodiscard]] std::size_t find(std::size_t at) const {
    while (nodes_[at].parent != at) at = nodes_[at].parent;
    return at;
  }
  [[nodiscard]] std::size_t find(const Term& term) const { return find(index_.find(term.text)->second); }

  void join(std::size_t left, std::size_t right) {
    left = find(left);
    right = find(right);
    if (left == right) return;
    nodes_[right].parent = left;
    has_changed_ = true;
  }

  /// Equal operations on equal parts have equal values.
  void close_congruence() {
    std::map<std::pair<std::string_view, std::vector<std::size_t>>, std::size_t> known;
    for (std::size_t at = 0; at < nodes_.size(); ++at) {
      if (nodes_[at].parts.empty()) continue;
      std::vector<std::size_t> parts;
      for (const std::size_t part : nodes_[at].parts) parts.push_back(find(part));
      const auto [found, is_new] = known.emplace(std::pair(std::string_view(nodes_[at].head), std::move(parts)), at);
      if (!is_new) join(found->second, at);
    }
  }

  /// Different constants are not equal, and a value is one of its possible values. False: there is none left.
  bool restrict_values() {
    std::map<std::size_t, std::size_t> constants;  // by class
    for (std::size_t at = 0; at < nodes_.size(); ++at) {
      if (nodes_[at].is_constant && !constants.emplace(find(at), at).second) return false;
    }
    std::map<std::size_t, std::set<std::string_view>> excluded;
    for (const Literal& literal : literals_) {
      if (!literal.is_negated || literal.atom->kind != Atom::Kind::Equal) continue;
      const std::size_t left = find(*literal.atom->left);
      const std::size_t right = find(*literal.atom->right);
      if (left == right) return false;
      const auto left_constant = constants.find(left);
      const auto right_constant = constants.find(right);
      if (right_constant != constants.end()) excluded[left].insert(nodes_[right_constant->second].text);
      if (left_constant != constants.end()) excluded[right].insert(nodes_[left_constant->second].text);
    }
    // All members of a class have to allow a value.
    std::map<std::size_t, std::vector<std::string_view>> allowed;
    for (std::size_t at = 0; at < nodes_.size(); ++at) {
      if (nodes_[at].values.empty()) continue;
      const std::size_t root = find(at);
      const auto constant = constants.find(root);
      std::vector<std::string_view> values;
      for (const std::string& value : nodes_[at].values) {
        const auto others = allowed.find(root);
        const bool fits = (constant == constants.end() || nodes_[constant->second].text == value) &&
                          !excluded[root].contains(value) &&
                          (others == allowed.end() ||
                           std::find(others->second.begin(), others->second.end(), value) != others->second.end());
        if (fits) values.push_back(value);
      }
      if (values.empty()) return false;
      allowed[root] = std::move(values);
    }
    for (const auto& [root, values] : allowed) {
      if (values.size() == 1) join(root, index_.find(std::string(values.front()))->second);
    }
    return true;
  }

  /// Upper bounds of the differences between integers. False: they contradict one another.
  bool are_integers_possible() {
    std::map<std::size_t, std::size_t> numbers;  // of each class; 0 is the constant 0
    for (std::size_t at = 0; at < nodes_.size(); ++at) {
      if (nodes_[at].is_integer) numbers.emplace(find(at), numbers.size() + 1);
    }
    const std::size_t count = numbers.size() + 1;
    if (count > integer_terms_max || !steps_.take(count * count * count / path_steps)) return true;
    std::vector<std::int64_t> bounds(count * count, integer_highest);
    const auto limit = [&](std::size_t left, std::size_t right, const Integers& range) {
      std::int64_t& upper = bounds[left * count + right];
      std::int64_t& lower = bounds[right * count + left];
      upper = std::min(upper, range.high);
      if (range.low != integer_lowest) lower = std::min(lower, -range.low);
    };
    for (std::size_t at = 0; at < nodes_.size(); ++at) {
      const Node& node = nodes_[at];
      if (!node.is_integer) continue;
      if (node.range.is_empty()) return false;
      const std::size_t number = numbers.at(find(at));
      limit(number, 0, node.range);
      if (const auto length = find_length(node)) limit(number, 0, {*length, *length});
    }
    for (const Literal& literal : literals_) {
      const Atom& atom = *literal.atom;
      if (atom.kind != Atom::Kind::Integer || literal.is_negated) continue;
      if (atom.integers.is_empty()) return false;
      limit(numbers.at(find(*atom.left)), atom.right ? numbers.at(find(*atom.right)) : 0, atom.integers);
    }
    for (std::size_t middle = 0; middle < count; ++middle) {
      for (std::size_t from = 0; from < count; ++from) {
        for (std::size_t to = 0; to < count; ++to) {
          std::int64_t& bound = bounds[from * count + to];
          bound = std::min(bound, add_bounds(bounds[from * count + middle], bounds[middle * count + to]));
        }
      }
    }
    for (std::size_t at = 0; at < count; ++at) {
      if (bounds[at * count + at] < 0) return false;
    }
    return std::all_of(nodes_.begin(), nodes_.end(), [&](const Node& node) {
      if (!node.is_integer || node.values.empty()) return true;
      const std::size_t number = numbers.at(find(index_.find(node.text)->second));
      return std::any_of(node.values.begin(), node.values.end(), [&](const std::string& text) {
        std::int64_t value = 0;
        std::from_chars(text.data(), text.data() + text.size(), value);
        const std::int64_t lower = bounds[number];
        return value <= bounds[number * count] && (lower == integer_highest || value >= -lower);
      });
    });
  }

  /// Of `len(x)`, where `x` is a constant text.
  [[nodiscard]] std::optional<std::int64_t> find_length(const Node& node) const {
    if (node.head != "len" || node.parts.size() != 1) return std::nullopt;
    const std::size_t root = find(node.parts[0]);
    for (std::size_t at = 0; at < nodes_.size(); ++at) {
      if (nodes_[at].content && find(at) == root) {
        return static_cast<std::int64_t>(count_code_points(*nodes_[at].content));
      }
    }
    return std::nullopt;
  }

  enum class Path : std::uint8_t { None, LessOrEqual, Less };

  /// The order of texts and of f64. Constants of f64 take part with their values, constant texts with their bytes.
  bool is_order_possible() const {
    std::map<std::size_t, std::size_t> classes;
    std::map<double, std::size_t> constants;
    std::size_t count = 0;
    for (const Literal& literal : literals_) {
      const Atom& atom = *literal.atom;
      if (atom.kind != Atom::Kind::Order && atom.kind != Atom::Kind::Number) continue;
      if (classes.emplace(find(*atom.left), count).second) ++count;
      if (atom.kind == Atom::Kind::Order) {
        if (classes.emplace(find(*atom.right), count).second) ++count;
        continue;
      }
      for (const double end : {atom.numbers.low, atom.numbers.high}) {
        if (constants.emplace(end, count).second) ++count;
      }
    }
    if (count > ordered_terms_max || !steps_.take(count * count * count / path_steps)) return true;
    std::vector<Path> paths(count * count, Path::None);
    const auto path = [&](std::size_t from, std::size_t to) -> Path& { return paths[from * count + to]; };
    const auto connect = [&](std::size_t from, std::size_t to, Path edge) {
      path(from, to) = std::max(path(from, to), edge);
    };
    for (auto one = constants.begin(); one != constants.end(); ++one) {
      for (auto other = std::next(one); other != constants.end(); ++other) {
        connect(one->second, other->second, Path::Less);
      }
    }
    order_texts(classes, connect);
    for (const Literal& literal : literals_) {
      const Atom& atom = *literal.atom;
      if (atom.kind == Atom::Kind::Order) {
        const std::size_t left = classes.at(find(*atom.left));
        const std::size_t right = classes.at(find(*atom.right));
        if (!literal.is_negated) {
          connect(left, right, atom.is_strict ? Path::Less : Path::LessOrEqual);
        } else if (atom.is_total) {
          connect(right, left, atom.is_strict ? Path::LessOrEqual : Path::Less);
        }
      } else if (atom.kind == Atom::Kind::Number && !literal.is_negated) {
        const std::size_t term = classes.at(find(*atom.left));
        connect(constants.at(atom.numbers.low), term, atom.numbers.low_is_open ? Path::Less : Path::LessOrEqual);
        connect(term, constants.at(atom.numbers.high), atom.numbers.high_is_open ? Path::Less : Path::LessOrEqual);
      }
    }
    for (std::size_t middle = 0; middle < count; ++middle) {
      for (std::size_t from = 0; from < count; ++from) {
        for (std::size_t to = 0; to < count; ++to) {
          if (path(from, middle) == Path::None || path(middle, to) == Path::None) continue;
          connect(from, to, std::max(path(from, middle), path(middle, to)));
        }
      }
    }
    for (std::size_t at = 0; at < count; ++at) {
      if (path(at, at) == Path::Less) return false;
    }
    return std::none_of(literals_.begin(), literals_.end(), [&](const Literal& literal) {
      if (!literal.is_negated) return false;
      const Atom& atom = *literal.atom;
      const auto leads = [&](std::size_t from, std::size_t to, bool is_strict) {
        return path(from, to) >= (is_strict ? Path::Less : Path::LessOrEqual);
      };
      if (atom.kind == Atom::Kind::Order) {
        return leads(classes.at(find(*atom.left)), classes.at(find(*atom.right)), atom.is_strict);
      }
      if (atom.kind == Atom::Kind::Number) {
        // A number that is on one side of another number is not NaN.
        const std::size_t term = classes.at(find(*atom.left));
        const bool is_above = leads(constants.at(atom.numbers.low), term, atom.numbers.low_is_open);
        const bool is_below = leads(term, constants.at(atom.numbers.high), atom.numbers.high_is_open);
        return (is_above || std::isinf(atom.numbers.low)) && (is_below || std::isinf(atom.numbers.high)) &&
               (is_above || is_below);
      }
      if (atom.kind != Atom::Kind::Equal) return false;
      const auto left = classes.find(find(*atom.left));
      const auto right = classes.find(find(*atom.right));
      return left != classes.end() && right != classes.end() && leads(left->second, right->second, false) &&
             leads(right->second, left->second, false);
    });
  }

  /// Constant texts, as far as they are compared: bytes of UTF-8 have the order of code points.
  template <class Connect>
  void order_texts(const std::map<std::size_t, std::size_t>& classes, const Connect& connect) const {
    std::map<std::string, std::size_t> texts;
    for (std::size_t at = 0; at < nodes_.size(); ++at) {
      const auto found = classes.find(find(at));
      if (nodes_[at].content && found != classes.end()) texts.emplace(*nodes_[at].content, found->second);
    }
    for (auto one = texts.begin(); one != texts.end(); ++one) {
      for (auto other = std::next(one); other != texts.end(); ++other) connect(one->second, other->second, Path::Less);
    }
  }

  const std::vector<Literal>& literals_;
  ComparisonSteps& steps_;
  std::vector<Node> nodes_;
  std::map<std::string, std::size_t> index_;  ///< by text
  bool has_changed_ = false;
};

}  // namespace

bool is_possible(const std::vector<Literal>& literals, ComparisonSteps& steps) {
  if (!steps.take(node_steps * literals.size())) return true;
  return Solver(literals, steps).is_possible();
}

}  // namespace tenon::types
