#pragma once

#include <cstdint>
#include <string_view>

namespace tenon::syntax {

// clang-format off
/// X(Name, text): a kind of token, and how messages describe it.
#define TENON_TOKENS(X)                                                                                   \
  /* trivia: between the tokens that the parser sees */                                                   \
  X(Whitespace, "white space") X(Newline, "line end") X(LineComment, "comment")                           \
  X(DocComment, "doc comment") X(BlockComment, "comment") X(Unknown, "unknown character")                 \
  /* names and literals */                                                                                \
  X(Identifier, "name") X(Integer, "integer") X(Float, "number")                                          \
  /* a string is StringStart, then StringText and TemplateStart … TemplateEnd in turn, then StringEnd */   \
  X(StringStart, "string") X(StringText, "text") X(StringEnd, "end of the string")                        \
  X(TemplateStart, "`{{`") X(TemplateEnd, "`}}`")                                                         \
  /* keywords that cannot be names */                                                                     \
  X(As, "`as`") X(Break, "`break`") X(Continue, "`continue`") X(Else, "`else`") X(Enum, "`enum`")         \
  X(Extern, "`extern`") X(False, "`false`") X(Fn, "`fn`") X(For, "`for`") X(If, "`if`") X(In, "`in`")      \
  X(Let, "`let`") X(Match, "`match`") X(Return, "`return`") X(Select, "`select`") X(Struct, "`struct`")    \
  X(True, "`true`") X(Try, "`try`") X(Use, "`use`") X(While, "`while`") X(Underscore, "`_`")              \
  /* punctuation */                                                                                       \
  X(LeftParenthesis, "`(`") X(RightParenthesis, "`)`") X(LeftBrace, "`{`") X(RightBrace, "`}`")           \
  X(LeftBracket, "`[`") X(RightBracket, "`]`") X(Comma, "`,`") X(Semicolon, "`;`") X(Colon, "`:`")        \
  X(ColonColon, "`::`") X(Dot, "`.`") X(DotDot, "`..`") X(DotDotEqual, "`..=`") X(Arrow, "`->`")          \
  X(FatArrow, "`=>`") X(Question, "`?`") X(QuestionDot, "`?.`") X(QuestionQuestion, "`??`")               \
  X(Bang, "`!`") X(Equal, "`=`") X(EqualEqual, "`==`") X(BangEqual, "`!=`") X(Less, "`<`")                \
  X(LessEqual, "`<=`") X(Greater, "`>`") X(GreaterEqual, "`>=`") X(Plus, "`+`") X(Minus, "`-`")           \
  X(Star, "`*`") X(Slash, "`/`") X(Percent, "`%`") X(PlusEqual, "`+=`") X(MinusEqual, "`-=`")             \
  X(StarEqual, "`*=`") X(SlashEqual, "`/=`") X(PercentEqual, "`%=`") X(AmpersandAmpersand, "`&&`")        \
  X(PipePipe, "`||`") X(Pipe, "`|`") X(End, "end of file")
// clang-format on

enum class TokenKind : std::uint8_t {
#define TENON_TOKEN(name, text) name,
  TENON_TOKENS(TENON_TOKEN)
#undef TENON_TOKEN
};

/// How messages describe a token of this kind.
[[nodiscard]] std::string_view describe(TokenKind kind);
/// `Identifier`, for `tenon show --as=tokens`.
[[nodiscard]] std::string_view name_of(TokenKind kind);

[[nodiscard]] constexpr bool is_trivia(TokenKind kind) {
  return kind <= TokenKind::Unknown;
}

struct Token {
  TokenKind kind = TokenKind::End;
  bool after_newline = false;  ///< a line ends between the last token that is not trivia and this one
  std::uint32_t offset = 0;
  std::uint32_t length = 0;
};

}  // namespace tenon::syntax
