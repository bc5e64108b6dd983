#pragma once

// tenon/extern.hpp: tenon/extern.h for C++17, with strings, vectors, maps, optionals and user-defined structs.
// Exceptions become failures. Header-only. The guide is docs/guides/externs.md.
//
//   struct Order { std::int64_t id; double price; };
//   template <>
//   struct tenon::native::Struct<Order> {
//     static constexpr const char* name = "Order";
//     static constexpr auto fields = std::make_tuple(field("id", &Order::id), field("price", &Order::price));
//   };
//
//   static double total(const std::vector<Order>& orders) { … }
//   TENON_FUNCTION(total)                                    // extern fn total(orders: List<Order>) -> f64;
//
// The signature is derived from the C++ types, so a program with a different declaration is rejected before it starts.

#include <cstdint>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "tenon/extern.h"

namespace tenon::native {
inline namespace v1 {

/// Reports why a call failed, to the program and to people. Any other std::exception can be thrown instead.
class Failure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A service that the function needs cannot be reached, and the function did nothing: a recorded run waits, and makes
/// the same call again. Without a store it is a failure like any other.
class Unavailable : public Failure {
 public:
  using Failure::Failure;
};

/// Specialize it for a user-defined struct: its `name` in the program, and its `fields`.
template <class T>
struct Struct;

template <class Owner, class Member>
struct FieldOf {
  const char* name;
  Member Owner::*member;
};

template <class Owner, class Member>
constexpr FieldOf<Owner, Member> field(const char* name, Member Owner::*member) {
  return {name, member};
}

/// Specialize it for a user-defined enum: its `name` in the program, and its `cases`, an array of Case<T>. Supports
/// enums whose cases do not have values, and unions of strings, whose name is "String".
template <class T>
struct Enum;

template <class T>
struct Case {
  T value;
  const char* name;
};

/// How a C++ type is read, written and named. Specialize it for a type that is not supported here.
template <class T, class = void>
struct Convert;

/// The current call. A function can have it as its first parameter, which is not part of the declaration in the
/// program.
class Call {
 public:
  explicit Call(tenon_call* call) : call_(call) {}
  /// Empty if the run is not recorded.
  [[nodiscard]] std::string_view effect_key() const { return tenon_effect_key(call_); }
  [[nodiscard]] bool is_cancelled() const { return tenon_is_cancelled(call_); }
  /// The answer to the newest `pause_for_input`; nothing before the first one.
  [[nodiscard]] std::optional<std::string_view> input() const {
    const tenon_text text = tenon_input(call_);
    if (text.data == nullptr) return std::nullopt;
    return std::string_view(text.data, text.length);
  }
  /// Asks a person: the function exits here, and is called again with the answer.
  [[noreturn]] void pause_for_input(std::string_view question) const;
  /// Prompts an agent: the function exits here, and the value of the agent's turn is the value of the call.
  [[noreturn]] void pause_for_child(const std::string& agent, std::string_view input) const;
  /// Hands off the turn that called the function to an agent: the function exits here.
  [[noreturn]] void finish_agent(const std::string& agent, std::string_view input) const;
  [[nodiscard]] tenon_call* get() const { return call_; }

 private:
  tenon_call* call_;
};

/// The C interface records an error and continues; here the function exits. The recorded error is the failure's
/// message.
struct Stop {};

inline void Call::pause_for_input(std::string_view question) const {
  tenon_pause_for_input_text(call_, question.data(), question.size());
  throw Stop();
}

inline void Call::pause_for_child(const std::string& agent, std::string_view input) const {
  tenon_pause_for_child_text(call_, agent.c_str(), input.data(), input.size());
  throw Stop();
}

inline void Call::finish_agent(const std::string& agent, std::string_view input) const {
  tenon_finish_agent_text(call_, agent.c_str(), input.data(), input.size());
  throw Stop();
}

inline void stop_if_failed(tenon_call* call) {
  if (tenon_failed(call)) throw Stop();
}

template <>
struct Convert<bool> {
  static std::string name() { return "Boolean"; }
  static bool read(tenon_call* call, const tenon_value* value) { return tenon_as_boolean(call, value); }
  static void write(tenon_call* call, tenon_slot* slot, bool value) { tenon_put_boolean(call, slot, value); }
};
template <>
struct Convert<std::int32_t> {
  static std::string name() { return "i32"; }
  static std::int32_t read(tenon_call* call, const tenon_value* value) { return tenon_as_i32(call, value); }
  static void write(tenon_call* call, tenon_slot* slot, std::int32_t value) { tenon_put_i64(call, slot, value); }
};
template <>
struct Convert<std::int64_t> {
  static std::string name() { return "i64"; }
  static std::int64_t read(tenon_call* call, const tenon_value* value) { return tenon_as_i64(call, value); }
  static void write(tenon_call* call, tenon_slot* slot, std::int64_t value) { tenon_put_i64(call, slot, value); }
};
template <>
struct Convert<double> {
  static std::string name() { return "f64"; }
  static double read(tenon_call* call, const tenon_value* value) { return tenon_as_f64(call, value); }
  static void write(tenon_call* call, tenon_slot* slot, double value) { tenon_put_f64(call, slot, value); }
};
/// As a parameter, it is valid during the call.
template <>
struct Convert<std::string_view> {
  static std::string name() { return "String"; }
  static std::string_view read(tenon_call* call, const tenon_value* value) {
    const tenon_text text = tenon_as_text(call, value);
    return {text.data, text.length};
  }
  static void write(tenon_call* call, tenon_slot* slot, std::string_view value) {
    tenon_put_text(call, slot, value.empty() ? "" : value.data(), value.size());
  }
};
template <>
struct Convert<std::string> {
  static std::string name() { return "String"; }
  static std::string read(tenon_call* call, const tenon_value* value) {
    return std::string(Convert<std::string_view>::read(call, value));
  }
  static void write(tenon_call* call, tenon_slot* slot, const std::string& value) {
    Convert<std::string_view>::write(call, slot, value);
  }
};

template <class T>
struct Convert<std::vector<T>> {
  static std::string name() { return "List<" + Convert<T>::name() + ">"; }
  static std::vector<T> read(tenon_call* call, const tenon_value* value) {
    std::vector<T> items;
    const std::size_t length = tenon_length(call, value);
    items.reserve(length);
    for (std::size_t i = 0; i < length; ++i) items.push_back(Convert<T>::read(call, tenon_item(call, value, i)));
    return items;
  }
  static void write(tenon_call* call, tenon_slot* slot, const std::vector<T>& value) {
    if constexpr (std::is_same_v<T, std::int64_t>) {
      tenon_put_i64s(call, slot, value.data(), value.size());
    } else if constexpr (std::is_same_v<T, double>) {
      tenon_put_f64s(call, slot, value.data(), value.size());
    } else {
      tenon_put_list(call, slot);
      for (const auto& item : value) Convert<T>::write(call, tenon_put_item(call, slot), item);
    }
  }
};

/// Ordered by key, unlike the program's maps, which keep the insertion order. To keep it, use
/// `std::vector<std::pair<std::string, T>>`.
template <class T>
struct Convert<std::map<std::string, T>> {
  static std::string name() { return "Map<" + Convert<T>::name() + ">"; }
  static std::map<std::string, T> read(tenon_call* call, const tenon_value* value) {
    std::map<std::string, T> entries;
    std::size_t cursor = 0;
    tenon_text key;
    const tenon_value* item = nullptr;
    while (tenon_next_entry(call, value, &cursor, &key, &item)) {
      entries.emplace(std::string(key.data, key.length), Convert<T>::read(call, item));
    }
    return entries;
  }
  static void write(tenon_call* call, tenon_slot* slot, const std::map<std::string, T>& value) {
    tenon_put_map(call, slot);
    for (const auto& [key, item] : value) {
      Convert<T>::write(call, tenon_put_entry(call, slot, key.data(), key.size()), item);
    }
  }
};

template <class T>
struct Convert<std::vector<std::pair<std::string, T>>> {
  static std::string name() { return "Map<" + Convert<T>::name() + ">"; }
  static std::vector<std::pair<std::string, T>> read(tenon_call* call, const tenon_value* value) {
    std::vector<std::pair<std::string, T>> entries;
    std::size_t cursor = 0;
    tenon_text key;
    const tenon_value* item = nullptr;
    while (tenon_next_entry(call, value, &cursor, &key, &item)) {
      entries.emplace_back(std::string(key.data, key.length), Convert<T>::read(call, item));
    }
    return entries;
  }
  static void write(tenon_call* call, tenon_slot* slot, const std::vector<std::pair<std::string, T>>& value) {
    tenon_put_map(call, slot);
    for (const auto& [key, item] : value) {
      Convert<T>::write(call, tenon_put_entry(call, slot, key.data(), key.size()), item);
    }
  }
};

template <class T>
struct Convert<std::optional<T>> {
  static std::string name() { return "Option<" + Convert<T>::name() + ">"; }
  static std::optional<T> read(tenon_call* call, const tenon_value* value) {
    const tenon_value* const held = tenon_some(call, value);
    if (held == nullptr) return std::nullopt;
    return Convert<T>::read(call, held);
  }
  static void write(tenon_call* call, tenon_slot* slot, const std::optional<T>& value) {
    if (value) {
      Convert<T>::write(call, tenon_put_some(call, slot), *value);
    } else {
      tenon_put_none(call, slot);
    }
  }
};

template <class... T>
struct Convert<std::tuple<T...>, std::enable_if_t<(sizeof...(T) > 1)>> {
  static std::string name() {
    std::string names;
    ((names += (names.empty() ? "" : ", ") + Convert<T>::name()), ...);
    return "(" + names + ")";
  }
  static std::tuple<T...> read(tenon_call* call, const tenon_value* value) {
    return read_all(call, value, std::index_sequence_for<T...>());
  }
  static void write(tenon_call* call, tenon_slot* slot, const std::tuple<T...>& value) {
    write_all(call, slot, value, std::index_sequence_for<T...>());
  }

 private:
  template <std::size_t... Index>
  static std::tuple<T...> read_all(tenon_call* call, const tenon_value* value, std::index_sequence<Index...>) {
    return std::tuple<T...>{Convert<T>::read(call, tenon_item(call, value, Index))...};
  }
  template <std::size_t... Index>
  static void write_all(tenon_call* call, tenon_slot* slot, const std::tuple<T...>& value,
                        std::index_sequence<Index...>) {
    (Convert<T>::write(call, tenon_put_position(call, slot, Index), std::get<Index>(value)), ...);
  }
};

template <class...>
struct MakeVoid {
  using type = void;
};
/// `void` where the types exist. With std::void_t, clang takes two such specializations for one (CWG 1558).
template <class... Types>
using Exists = typename MakeVoid<Types...>::type;

template <class T>
struct Convert<T, Exists<decltype(Struct<T>::fields)>> {
  static std::string name() { return Struct<T>::name; }
  static T read(tenon_call* call, const tenon_value* value) {
    T result{};
    std::apply([&](const auto&... each) { (read_field(call, value, result, each), ...); }, Struct<T>::fields);
    return result;
  }
  static void write(tenon_call* call, tenon_slot* slot, const T& value) {
    std::apply([&](const auto&... each) { (write_field(call, slot, value, each), ...); }, Struct<T>::fields);
  }

 private:
  template <class Member>
  static void read_field(tenon_call* call, const tenon_value* value, T& result, const FieldOf<T, Member>& at) {
    result.*at.member = Convert<Member>::read(call, tenon_field(call, value, at.name));
  }
  template <class Member>
  static void write_field(tenon_call* call, tenon_slot* slot, const T& value, const FieldOf<T, Member>& at) {
    Convert<Member>::write(call, tenon_put_field(call, slot, at.name), value.*at.member);
  }
};

template <class T>
struct Convert<T, Exists<decltype(Enum<T>::cases)>> {
  static std::string name() { return Enum<T>::name; }
  static T read(tenon_call* call, const tenon_value* value) {
    const tenon_text text =
        tenon_kind_of(call, value) == TENON_TEXT ? tenon_as_text(call, value) : tenon_case_of(call, value);
    for (const Case<T>& each : Enum<T>::cases) {
      if (std::string_view(text.data, text.length) == each.name) return each.value;
    }
    stop_if_failed(call);
    throw Failure("the function knows no case `" + std::string(text.data, text.length) + "`");
  }
  static void write(tenon_call* call, tenon_slot* slot, T value) {
    for (const Case<T>& each : Enum<T>::cases) {
      if (each.value != value) continue;
      if (std::string_view(Enum<T>::name) == "String") {
        tenon_put_string(call, slot, each.name);
      } else {
        tenon_put_case(call, slot, each.name);
      }
      return;
    }
    throw Failure("the function gives an enumerator without a case");
  }
};

template <class T>
using Plain = std::remove_cv_t<std::remove_reference_t<T>>;

/// Calls an ordinary C++ function with the arguments of the program. Used by TENON_FUNCTION.
template <class Result, class... Parameters>
struct Adapter {
  static std::string signature() {
    std::string names;
    ((names += (names.empty() ? "" : ", ") + Convert<Plain<Parameters>>::name()), ...);
    if constexpr (std::is_void_v<Result>) {
      return "(" + names + ") -> ()";
    } else {
      return "(" + names + ") -> " + Convert<Plain<Result>>::name();
    }
  }

  template <class Function>
  static void run(tenon_call* raw, Function function) {
    guarded(raw, [&] { invoke(raw, function, std::index_sequence_for<Parameters...>()); });
  }

  template <class Body>
  static void guarded(tenon_call* raw, Body body) {
    try {
      body();
    } catch (const Stop&) {
      // already recorded
    } catch (const Unavailable& unavailable) {
      tenon_fail_unavailable(raw, unavailable.what());
    } catch (const std::exception& exception) {
      const std::string_view message = exception.what();
      tenon_fail_text(raw, message.data(), message.size());
    } catch (...) {
      tenon_fail_text(raw, "an exception that says nothing", 30);
    }
  }

 private:
  template <class Function, std::size_t... Index>
  static void invoke(tenon_call* raw, Function function, std::index_sequence<Index...>) {
    // In braces, arguments are evaluated from left to right.
    std::tuple<Plain<Parameters>...> arguments{Convert<Plain<Parameters>>::read(raw, tenon_argument(raw, Index))...};
    stop_if_failed(raw);
    if constexpr (std::is_void_v<Result>) {
      function(Call(raw), std::get<Index>(std::move(arguments))...);
    } else {
      Convert<Plain<Result>>::write(raw, tenon_result(raw),
                                    function(Call(raw), std::get<Index>(std::move(arguments))...));
    }
  }
};

template <class Result, class... Parameters>
std::string signature_of(Result (*)(Parameters...)) {
  return Adapter<Result, Parameters...>::signature();
}
template <class Result, class... Parameters>
std::string signature_of(Result (*)(Call, Parameters...)) {
  return Adapter<Result, Parameters...>::signature();
}

template <class Result, class... Parameters>
void run(tenon_call* raw, Result (*function)(Parameters...)) {
  Adapter<Result, Parameters...>::run(
      raw, [function](const Call&, auto&&... given) { return function(std::forward<decltype(given)>(given)...); });
}
template <class Result, class... Parameters>
void run(tenon_call* raw, Result (*function)(Call, Parameters...)) {
  Adapter<Result, Parameters...>::run(raw, [function](const Call& call, auto&&... given) {
    return function(call, std::forward<decltype(given)>(given)...);
  });
}

}  // namespace v1
}  // namespace tenon::native

/// Exports the C++ function `name` as the extern with the same name.
#define TENON_FUNCTION(name) TENON_FUNCTION_AS(name, name)
/// Exports `function`, in any namespace, as the extern `name`.
#define TENON_FUNCTION_AS(name, function)                                                                          \
  static void tenon_run_##name(tenon_call* call) {                                                                 \
    ::tenon::native::run(call, &function);                                                                         \
  }                                                                                                                \
  static const std::string tenon_signature_of_##name = ::tenon::native::signature_of(&function);                   \
  extern "C" TENON_EXPORT const tenon_extern_entry tenon_extern_##name;                                            \
  const tenon_extern_entry tenon_extern_##name = {sizeof(tenon_extern_entry), TENON_EXTERN_ABI, &tenon_run_##name, \
                                                  tenon_signature_of_##name.c_str()};
