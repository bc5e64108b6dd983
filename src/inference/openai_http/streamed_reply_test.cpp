// Streamed replies, whole and broken, seen through the model.
#include "inference/openai_http/streamed_reply.h"

#include <nlohmann/json.hpp>

#include "tests/support/openai_testing.h"

namespace tenon::inference {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::HasSubstr;
using namespace tenon::test;

OpenAiOptions streaming_options(const MockServerThread& server) {
  OpenAiOptions options = options_for(server);
  options.streaming = Streaming::On;
  return options;
}

std::string chunk(std::string_view content) {
  return R"(data: {"model":"mock-1","choices":[{"index":0,"delta":{"content":)" + nlohmann::json(content).dump() +
         "},\"finish_reason\":null}]}\n\n";
}
std::string last_chunk(std::string_view reason = "stop") {
  return R"(data: {"choices":[{"index":0,"delta":{},"finish_reason":")" + std::string(reason) + "\"}]}\n\n";
}
const std::string usage_chunk =
    "data: "
    "{\"choices\":[],\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":2,\"prompt_tokens_details\":{\"cached_"
    "tokens\":4}}}\n\n";
const std::string done = "data: [DONE]\n\n";

ReplyPlan stream(const std::vector<std::string>& pieces) {
  ReplyPlan plan = {Send{event_stream_head()}};
  for (const std::string& piece : pieces) {
    plan.emplace_back(Send{piece});
    plan.emplace_back(Wait{milliseconds(2)});
  }
  plan.emplace_back(Close{});
  return plan;
}

TEST(StreamedReply, PiecesComeAsTheyAreSent) {
  MockServerThread server(
      replies({stream({": ping\r\n\r\n", chunk("wa"), chunk("ter"), last_chunk(), usage_chunk, done})}));
  const auto model = open_model(streaming_options(server));
  GenerationRecorder recorder;
  model->start(5, ask("hello"), recorder);
  ASSERT_TRUE(recorder.wait_for(*model, 1));
  const Answer& answer = std::get<Answer>(recorder.outcomes.at(5));
  EXPECT_EQ(answer.text, "water");
  EXPECT_EQ(answer.finish, Finish::Complete);
  EXPECT_EQ(answer.model, "mock-1");
  EXPECT_EQ(answer.usage.prompt, 9U);
  EXPECT_EQ(answer.usage.reused, 4U);
  EXPECT_EQ(answer.usage.generated, 2U);
  EXPECT_THAT(recorder.pieces.at(5),
              ElementsAre(GenerationRecorder::Piece{1, "wa"}, GenerationRecorder::Piece{1, "ter"}));
  const auto body = nlohmann::json::parse(server.bodies().at(0));
  EXPECT_EQ(body["stream"], true);
  EXPECT_EQ(body["stream_options"]["include_usage"], true);
  EXPECT_THAT(server.heads().at(0), HasSubstr("Accept: text/event-stream"));
}

TEST(StreamedReply, AnySplitOfTheBytesYieldsTheSameAnswer) {
  const std::string bytes = chunk("grü") + ": c\r\n" + chunk("ße 🎉") + last_chunk("length") + usage_chunk + done;
  for (const std::size_t size : {1U, 7U, 61U}) {
    std::vector<std::string> pieces;
    for (std::size_t at = 0; at < bytes.size(); at += size) pieces.push_back(bytes.substr(at, size));
    ReplyPlan plan = {Send{event_stream_head()}};
    for (const auto& piece : pieces) {
      plan.emplace_back(Send{piece});
      plan.emplace_back(Wait{milliseconds(0)});
    }
    plan.emplace_back(Close{});
    MockServerThread server(replies({plan}));
    const Answer answer = get_answer(*open_model(streaming_options(server)), ask("hello"));
    EXPECT_EQ(answer.text, "grüße 🎉");
    EXPECT_EQ(answer.finish, Finish::CutOff);
  }
}

TEST(StreamedReply, AStreamThatIsCutIsSentAgainAndVoidsItsPieces) {
  for (const bool is_reset : {false, true}) {
    ReplyPlan cut = {Send{event_stream_head()}, Send{chunk("half")}, Wait{milliseconds(300)}};
    if (is_reset) {
      cut.emplace_back(Reset{});
    } else {
      cut.emplace_back(Close{});
    }
    MockServerThread server(replies({cut, stream({chunk("whole"), last_chunk(), done})}));
    const auto model = open_model(streaming_options(server));
    GenerationRecorder recorder;
    model->start(1, ask("hello"), recorder);
    ASSERT_TRUE(recorder.wait_for(*model, 1));
    const Answer& answer = std::get<Answer>(recorder.outcomes.at(1));
    EXPECT_EQ(answer.text, "whole");
    EXPECT_EQ(answer.usage.attempts, 2U);
    EXPECT_THAT(recorder.pieces.at(1),
                ElementsAre(GenerationRecorder::Piece{1, "half"}, GenerationRecorder::Piece{2, "whole"}));
  }
}

TEST(StreamedReply, TheEndMarkMayBeMissing) {
  MockServerThread server(replies({stream({chunk("all"), last_chunk()})}));
  const Answer answer = get_answer(*open_model(streaming_options(server)), ask("hello"));
  EXPECT_EQ(answer.text, "all");
  EXPECT_EQ(answer.usage.attempts, 1U);
}

TEST(StreamedReply, AnEndMarkBeforeACutIsAnEnd) {
  MockServerThread server(
      replies({{Send{event_stream_head()}, Send{chunk("all") + done}, Wait{milliseconds(300)}, Reset{}}}));
  EXPECT_EQ(get_answer(*open_model(streaming_options(server)), ask("hello")).text, "all");
}

TEST(StreamedReply, AnErrorWithinTheStreamIsOne) {
  MockServerThread server(replies({
      stream({chunk("ha"), "data: {\"error\":{\"message\":\"The server had an error\",\"type\":\"server_error\"}}\n\n",
              done}),
      stream({chunk("whole"), last_chunk(), done}),
  }));
  const Answer answer = get_answer(*open_model(streaming_options(server)), ask("hello"));
  EXPECT_EQ(answer.text, "whole");
  EXPECT_EQ(answer.usage.attempts, 2U);

  MockServerThread refusing(
      replies({stream({"data: {\"error\":{\"message\":\"no such field\",\"type\":\"invalid_request_error\"}}\n\n"})}));
  const ModelError error = get_error(*open_model(streaming_options(refusing)), ask("hello"));
  EXPECT_EQ(error.kind, ModelErrorKind::Rejected);
  EXPECT_THAT(error.message, HasSubstr("no such field"));
}

TEST(StreamedReply, AKeyInAnErrorIsHiddenEvenWhereTheTextIsCut) {
  const std::string message = std::string(285, 'x') + std::string(test_key) + std::string(100, 'y');
  MockServerThread server(replies(
      {stream({"data: {\"error\":{\"message\":\"" + message + "\",\"type\":\"invalid_request_error\"}}\n\n"})}));
  const ModelError error = get_error(*open_model(streaming_options(server)), ask("hello"));
  EXPECT_THAT(error.message, HasSubstr("x[key]y"));
  EXPECT_THAT(error.message, testing::Not(HasSubstr("sk-")));
}

TEST(StreamedReply, ABrokenEventIsABadReply) {
  MockServerThread server(replies({stream({chunk("ha"), "data: {\"choices\": [\n\n", last_chunk(), done})}));
  EXPECT_EQ(get_error(*open_model(streaming_options(server)), ask("hello")).kind, ModelErrorKind::BadReply);
}

TEST(StreamedReply, AServerThatDoesNotStreamIsUnderstood) {
  MockServerThread server(replies({answering("in one piece")}));
  EXPECT_EQ(get_answer(*open_model(streaming_options(server)), ask("hello")).text, "in one piece");
}

TEST(StreamedReply, ARefusalIsOneAlsoInPieces) {
  MockServerThread server(
      replies({stream({"data: {\"choices\":[{\"delta\":{\"refusal\":\"I can\"}}]}\n\n",
                       "data: {\"choices\":[{\"delta\":{\"refusal\":\"not.\"}}]}\n\n", last_chunk(), done})}));
  const Answer answer = get_answer(*open_model(streaming_options(server)), ask("hello"));
  EXPECT_EQ(answer.finish, Finish::Refused);
  EXPECT_EQ(answer.text, "I cannot.");
}

TEST(StreamedReply, AnErrorStatusKeepsItsWords) {
  MockServerThread server(replies({{Send{http_reply(400, "plain words", "")}}}));
  EXPECT_THAT(get_error(*open_model(streaming_options(server)), ask("hello")).message,
              HasSubstr("HTTP 400: plain words"));
}

TEST(StreamedReply, SilenceInTheMiddleIsCut) {
  MockServerThread server(replies(
      {{Send{event_stream_head()}, Send{chunk("ha")}, StaySilent{}}, stream({chunk("whole"), last_chunk(), done})}));
  OpenAiOptions options = streaming_options(server);
  options.idle_timeout = milliseconds(60);
  const Answer answer = get_answer(*open_model(options), ask("hello"));
  EXPECT_EQ(answer.text, "whole");
  EXPECT_EQ(answer.usage.attempts, 2U);
}

TEST(StreamedReply, AnEndlessStreamIsBrokenOff) {
  ReplyPlan flood = {Send{event_stream_head()}};
  for (int i = 0; i < 3'000; ++i) flood.emplace_back(Send{": " + std::string(1'000, 'x') + "\n"});
  MockServerThread server(replies({flood}));
  OpenAiOptions options = streaming_options(server);
  options.reply_bytes_max = 200'000;
  EXPECT_EQ(get_error(*open_model(options), ask("hello")).kind, ModelErrorKind::BadReply);
}

std::string text_of_pieces(const GenerationRecorder& recorder, GenerationId id) {
  std::string text;
  for (const auto& piece : recorder.pieces.at(id)) text += piece.text;
  return text;
}

std::string raw_chunk(std::string_view content) {
  return R"(data: {"choices":[{"delta":{"content":")" + std::string(content) + "\"}}]}\n\n";
}

TEST(StreamedReply, HalvesOfACharacterInNeighbouringChunksAreJoined) {
  MockServerThread server(
      replies({stream({raw_chunk("Hi "), raw_chunk("\\ud83d"), raw_chunk("\\ude00!"), last_chunk(), done})}));
  const auto model = open_model(streaming_options(server));
  GenerationRecorder recorder;
  model->start(1, ask("hello"), recorder);
  ASSERT_TRUE(recorder.wait_for(*model, 1));
  EXPECT_EQ(std::get<Answer>(recorder.outcomes.at(1)).text, "Hi 😀!");
  EXPECT_EQ(text_of_pieces(recorder, 1), "Hi 😀!");
}

TEST(StreamedReply, ThoughtsAreNotAmongThePieces) {
  MockServerThread server(replies(
      {stream({chunk("<thi"), chunk("nk>a"), chunk("b</th"), chunk("ink>\n\nDe"), chunk("ar"), last_chunk(), done})}));
  const auto model = open_model(streaming_options(server));
  GenerationRecorder recorder;
  model->start(1, ask("hello"), recorder);
  ASSERT_TRUE(recorder.wait_for(*model, 1));
  const Answer& answer = std::get<Answer>(recorder.outcomes.at(1));
  EXPECT_EQ(answer.text, "Dear");
  EXPECT_EQ(answer.thoughts, "ab");
  EXPECT_EQ(text_of_pieces(recorder, 1), "Dear");
}

TEST(StreamedReply, ADocumentMayBeginWithWhiteSpaceOrAMark) {
  for (const std::string begin : {" ", "\n\n", "\xEF\xBB\xBF", "\xEF\xBB\xBF \r\n"}) {
    const std::string body = begin + chat_reply_json("all");
    for (const std::size_t at : {std::size_t{1}, begin.size(), begin.size() + 1}) {
      MockServerThread server(
          replies({{Send{"HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n"},
                    Send{body.substr(0, at)}, Wait{milliseconds(20)}, Send{body.substr(at)}}}));
      EXPECT_EQ(get_answer(*open_model(streaming_options(server)), ask("hello")).text, "all") << at;
    }
  }
}

TEST(StreamedReply, AReasonThatIsNotTheEndOfAWholeAnswer) {
  for (const auto* reason : {"error", "abort"}) {
    MockServerThread server(
        replies({stream({chunk("part"), last_chunk(reason), done}), stream({chunk("all"), last_chunk(), done})}));
    EXPECT_EQ(get_answer(*open_model(streaming_options(server)), ask("hello")).text, "all") << reason;
  }
  MockServerThread server(replies({stream({chunk("part"), last_chunk("never_seen"), done})}));
  EXPECT_EQ(get_answer(*open_model(streaming_options(server)), ask("hello")).finish, Finish::CutOff);
}

}  // namespace
}  // namespace tenon::inference
