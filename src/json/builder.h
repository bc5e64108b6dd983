#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "json/json.h"

namespace tenon {

/// The handler of a JsonScanner that makes a Json of what is scanned.
class JsonBuilder {
 public:
  void null() { add(Json()); }
  void boolean(bool value) { add(value); }
  void text(std::string_view value) { add(value); }
  void integer(std::int64_t value, std::string_view) { add(value); }
  void large(std::uint64_t value, std::string_view) { add(value); }
  void number(double value, std::string_view) { add(value); }
  void begin_list() { open_.push_back({Json::array(), {}}); }
  void begin_object() { open_.push_back({Json::object(), {}}); }
  void end_list() { end(); }
  void end_object() { end(); }
  bool key(std::string_view name) {
    Open& object = open_.back();
    if (is_known(object, name)) return false;
    object.value.mutable_members().push_back({std::string(name), Json()});
    return true;
  }

  /// The value, once the scanner has read it.
  [[nodiscard]] Json take() { return std::move(whole_); }

 private:
  /// From this many members on, keys are looked up in a set instead of compared one by one.
  static constexpr std::size_t members_compared_max = 16;

  struct Open {
    Json value;
    std::unique_ptr<std::unordered_set<std::string>> names;  ///< of an object with many members
  };

  static bool is_known(Open& object, std::string_view name) {
    const Json::Object& members = object.value.members();
    if (members.size() < members_compared_max) return object.value.contains(name);
    if (object.names == nullptr) {
      object.names = std::make_unique<std::unordered_set<std::string>>();
      for (const JsonMember& member : members) object.names->insert(member.name);
    }
    return !object.names->emplace(name).second;
  }

  void add(Json value) {
    if (open_.empty()) {
      whole_ = std::move(value);
    } else if (Json& parent = open_.back().value; parent.is_array()) {
      parent.mutable_items().push_back(std::move(value));
    } else {
      parent.mutable_members().back().value = std::move(value);
    }
  }
  void end() {
    Json value = std::move(open_.back().value);
    open_.pop_back();
    add(std::move(value));
  }

  Json whole_;
  std::vector<Open> open_;
};

}  // namespace tenon
