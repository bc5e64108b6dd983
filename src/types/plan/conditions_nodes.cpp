#include "types/plan/conditions_nodes.h"

#include <utility>

#include "json/text.h"

namespace tenon::types {

using Node = Condition::Node;

NodePointer make_node(Node node) {
  return std::make_shared<const Node>(std::move(node));
}
NodePointer make_both(NodePointer left, NodePointer right) {
  return make_node({Node::Kind::And, {}, {std::move(left), std::move(right)}});
}
NodePointer make_not(NodePointer inner) {
  return make_node({Node::Kind::Not, {}, {std::move(inner)}});
}
NodePointer make_always() {
  return make_node({});
}
NodePointer make_truth(bool value) {
  return value ? make_always() : make_not(make_always());
}
NodePointer make_atom(Atom atom) {
  return make_node({Node::Kind::Atom, std::move(atom), {}});
}
NodePointer make_equal(TermPointer left, TermPointer right) {
  Atom atom;
  atom.left = std::move(left);
  atom.right = std::move(right);
  return make_atom(std::move(atom));
}
NodePointer make_range(TermPointer left, Integers range, TermPointer right) {
  Atom atom;
  atom.kind = Atom::Kind::Integer;
  atom.left = std::move(left);
  atom.right = std::move(right);
  atom.integers = range;
  return make_atom(std::move(atom));
}
NodePointer make_number(TermPointer term, Numbers range) {
  Atom atom;
  atom.kind = Atom::Kind::Number;
  atom.left = std::move(term);
  atom.numbers = range;
  return make_atom(std::move(atom));
}
NodePointer make_order(TermPointer low, TermPointer high, bool is_strict, bool is_total) {
  Atom atom;
  atom.kind = Atom::Kind::Order;
  atom.left = std::move(low);
  atom.right = std::move(high);
  atom.is_strict = is_strict;
  atom.is_total = is_total;
  return make_atom(std::move(atom));
}

TermPointer make_term(std::string head, std::vector<TermPointer> parts) {
  Term term;
  term.text = head;
  if (!parts.empty()) {
    term.text += "(";
    for (const TermPointer& part : parts) term.text += part->text + ",";
    term.text += ")";
  }
  term.head = std::move(head);
  term.parts = std::move(parts);
  return std::make_shared<const Term>(std::move(term));
}
TermPointer make_constant(std::string text) {
  Term term = *make_term(std::move(text));
  term.is_constant = true;
  return std::make_shared<const Term>(std::move(term));
}
TermPointer make_boolean(bool value) {
  return make_constant(value ? "true" : "false");
}
TermPointer make_text(const std::string& content) {
  Term term = *make_constant(make_json_string(content));
  term.content = content;
  return std::make_shared<const Term>(std::move(term));
}
TermPointer make_integer(std::int64_t value) {
  Term term = *make_constant(std::to_string(value));
  term.is_integer = true;
  term.range = {value, value};
  return std::make_shared<const Term>(std::move(term));
}
TermPointer make_length(TermPointer of, Integers range) {
  Term term = *make_term("len", {std::move(of)});
  term.is_integer = true;
  term.range = range;
  return std::make_shared<const Term>(std::move(term));
}

NodePointer mark_partial(const NodePointer& read, const std::vector<std::string>& terms) {
  if (terms.empty()) return read;
  Node node = *read;
  if (node.kind == Node::Kind::Always) {
    node.kind = Node::Kind::Atom;
    node.atom.left = node.atom.right = make_boolean(true);
  }
  if (node.kind == Node::Kind::Atom) {
    node.atom.partial.insert(node.atom.partial.end(), terms.begin(), terms.end());
  }
  for (NodePointer& part : node.parts) part = mark_partial(part, terms);
  return make_node(std::move(node));
}

}  // namespace tenon::types
