// What the transport does when connections, servers and certificates misbehave, seen through the model that it serves.
#include "inference/openai_http/post_client.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <thread>

#include "tests/support/openai_testing.h"
#include "tests/support/tls_front.h"

namespace tenon::inference {
namespace {

using std::chrono::milliseconds;
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;
using namespace tenon::test;

TEST(PostClient, HostsOfUrls) {
  EXPECT_EQ(find_host("https://api.openai.com/v1"), "api.openai.com");
  EXPECT_EQ(find_host("http://user:password@host:8080/v1"), "host:8080");
  EXPECT_EQ(find_host("http://[::1]:8080/v1"), "[::1]:8080");
  EXPECT_EQ(find_host("ftp://host/"), std::nullopt);
  EXPECT_EQ(add_to_path("http://host/v1/?a=b", "/x"), "http://host/v1/x?a=b");
}

TEST(PostClient, CutConnectionsAreTriedAgain) {
  const std::string whole = http_reply(200, chat_reply_json("whole"));
  const ReplyPlan cuts[] = {
      {Reset{}},                                                              // before a byte
      {Close{}},                                                              //
      {Send{whole.substr(0, 20)}, Reset{}},                                   // within the headers
      {Send{whole.substr(0, 20)}, Close{}},                                   //
      {Send{whole.substr(0, whole.size() - 30)}, Reset{}},                    // within the body
      {Send{whole.substr(0, whole.size() - 30)}, Close{}},                    //
      {Send{"HTTP/1.1 200 OK\r\nContent-Length: 99999\r\n\r\n{}"}, Close{}},  // a length that never comes
      {Send{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{\"cho"}, Close{}},
  };
  for (const ReplyPlan& cut : cuts) {
    MockServerThread server(replies({cut, cut, answering("whole")}));
    const auto model = open_model(options_for(server));
    const Answer answer = get_answer(*model, ask("hello"));
    EXPECT_EQ(answer.text, "whole");
    // A connection that was kept and died before it carried a byte is replaced by libcurl itself.
    EXPECT_GE(server.counts().requests, 3U);
  }
}

TEST(PostClient, AConnectionThatIsAlwaysCutIsUnreachable) {
  MockServerThread server(replies({{Send{"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n{"}, Close{}}}));
  const auto model = open_model(options_for(server));
  const ModelError error = get_error(*model, ask("hello"));
  EXPECT_EQ(error.kind, ModelErrorKind::Unreachable);
  EXPECT_EQ(error.usage.attempts, 4U);
  EXPECT_THAT(error.message,
              AllOf(StartsWith("127.0.0.1:"), HasSubstr("the connection was cut"), HasSubstr("sent 4 times")));
}

TEST(PostClient, NobodyListens) {
  OpenAiOptions options;
  {
    const MockServerThread server(replies({answering("ok")}));
    options = options_for(server);
  }
  const auto model = open_model(std::move(options));
  const ModelError error = get_error(*model, ask("hello"));
  EXPECT_EQ(error.kind, ModelErrorKind::Unreachable);
  EXPECT_THAT(error.message, HasSubstr("check the base URL, and that the server runs"));
}

TEST(PostClient, ASlowDripIsRead) {
  ReplyPlan drip;
  for (const char byte : http_reply(200, chat_reply_json("slow"))) {
    drip.emplace_back(Send{std::string(1, byte)});
    drip.emplace_back(Wait{milliseconds(0)});
  }
  MockServerThread server(replies({drip}));
  const auto model = open_model(options_for(server));
  EXPECT_EQ(get_answer(*model, ask("hello")).text, "slow");
}

TEST(PostClient, AReplyThatEndsWithItsConnectionMayBeACut) {
  MockServerThread server(replies({{Send{"HTTP/1.1 200 OK\r\n\r\n{\"choi"}, Close{}},
                                   {Send{"HTTP/1.1 200 OK\r\n\r\n" + chat_reply_json("whole")}, Close{}}}));
  const auto model = open_model(options_for(server));
  const Answer answer = get_answer(*model, ask("hello"));
  EXPECT_EQ(answer.text, "whole");
  EXPECT_EQ(answer.usage.attempts, 2U);
}

TEST(PostClient, AReplyBeyondTheLimitIsBrokenOff) {
  ReplyPlan flood = {Send{"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"}};
  for (int i = 0; i < 64; ++i) flood.emplace_back(Send{std::string(64 * 1024, ' ')});
  MockServerThread server(replies({flood}));
  OpenAiOptions options = options_for(server);
  options.reply_bytes_max = 1'000'000;
  const auto model = open_model(std::move(options));
  const ModelError error = get_error(*model, ask("hello"));
  EXPECT_EQ(error.kind, ModelErrorKind::BadReply);
  EXPECT_THAT(error.message, HasSubstr("longer than 1000000 bytes (reply_bytes_max)"));
}

TEST(PostClient, ReplyOfExactlyTheLimitIsRead) {
  const std::string body = chat_reply_json("fits");
  MockServerThread server(replies({{Send{http_reply(200, body)}}}));
  OpenAiOptions options = options_for(server);
  options.reply_bytes_max = body.size();
  EXPECT_EQ(get_answer(*open_model(options), ask("hello")).text, "fits");
  options.reply_bytes_max = body.size() - 1;
  EXPECT_EQ(get_error(*open_model(options), ask("hello")).kind, ModelErrorKind::BadReply);
}

TEST(PostClient, WhatIsNotHttpIsABadReply) {
  for (const auto* bytes :
       {"SSH-2.0-OpenSSH_9.2\r\n", "\x16\x03\x01\x02", "{\"choices\":[]}", "HTTP/9.9 200\r\n\r\n"}) {
    MockServerThread server(replies({{Send{bytes}, Close{}}}));
    const ModelError error = get_error(*open_model(options_for(server)), ask("hello"));
    EXPECT_EQ(error.kind, ModelErrorKind::BadReply) << bytes << error.message;
    EXPECT_EQ(error.usage.attempts, 1U) << bytes;
  }
}

TEST(PostClient, EndlessHeadersAreBrokenOff) {
  ReplyPlan flood = {Send{"HTTP/1.1 200 OK\r\n"}};
  for (int i = 0; i < 20'000; ++i) flood.emplace_back(Send{"X-Filler: " + std::string(1'000, 'x') + "\r\n"});
  MockServerThread server(replies({flood}));
  OpenAiOptions options = options_for(server);
  options.retry.attempts_max = 2;
  const ModelError error = get_error(*open_model(std::move(options)), ask("hello"));
  EXPECT_NE(error.kind, ModelErrorKind::TimedOut) << error.message;
}

TEST(PostClient, RedirectsAreToldAndNotFollowed) {
  MockServerThread other(replies({answering("the key went elsewhere")}));
  MockServerThread server(
      replies({{Send{http_reply(307, "", "Location: " + other.base_url() + "/chat/completions\r\n")}}}));
  const auto model = open_model(options_for(server));
  const ModelError error = get_error(*model, ask("hello"));
  EXPECT_EQ(error.kind, ModelErrorKind::Rejected);
  EXPECT_THAT(error.message, HasSubstr("HTTP 307: redirects to " + other.base_url()));
  EXPECT_EQ(other.counts().requests, 0U);
}

TEST(PostClient, AKeptConnectionThatTheServerClosedIsReplaced) {
  MockServerThread server([](const HttpRequest& request) -> ReplyPlan {
    // The reply promises to keep the connection, and does not.
    return {Send{http_reply(200, chat_reply_json(std::to_string(request.ordinal)))}, Close{}};
  });
  OpenAiOptions options = options_for(server);
  options.retry.attempts_max = 1;
  const auto model = open_model(std::move(options));
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(get_answer(*model, ask("hello")).text, std::to_string(i));
    std::this_thread::sleep_for(milliseconds(2));  // the close arrives
  }
}

TEST(PostClient, WhenSocketsRunOutTheRestTakesTurns) {
  // The server has a process of its own here, because the limit on open files is for one process.
  MockServer server([](const HttpRequest&) -> ReplyPlan {
    return {Wait{milliseconds(5)}, Send{http_reply(200, chat_reply_json("ok"))}};
  });
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    server.run(std::chrono::seconds(30));
    _exit(0);
  }
  OpenAiOptions options;
  options.base_url = server.url() + "/v1";
  options.model = "mock-1";
  const auto model = open_model(std::move(options));
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit tight{.rlim_cur = 40, .rlim_max = before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &tight), 0);
  GenerationRecorder recorder;
  for (GenerationId id = 0; id < 200; ++id) model->start(id, ask("hello"), recorder);
  const bool is_done = recorder.wait_for(*model, 200);
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  server.stop();
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  ASSERT_TRUE(is_done);
  for (const auto& [id, outcome] : recorder.outcomes) {
    ASSERT_TRUE(std::holds_alternative<Answer>(outcome)) << std::get<ModelError>(outcome).message;
    EXPECT_EQ(std::get<Answer>(outcome).usage.attempts, 1U);
  }
}

/// A certificate that signs itself, made for the test by the openssl program.
class PostClientTls : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "tenon_tls_XXXXXX";
    ASSERT_NE(mkdtemp(folder_.data()), nullptr);
  }
  void make_certificate(const std::string& host) {
    const std::string command =
        "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=" + host +
        " -addext subjectAltName=DNS:" + host + " -keyout " + key_file() + " -out " + certificate_file() + " 2>" +
        folder_ + "/openssl.log";
    ASSERT_EQ(std::system(command.c_str()), 0);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] std::string key_file() const { return folder_ + "/key.pem"; }
  [[nodiscard]] std::string certificate_file() const { return folder_ + "/certificate.pem"; }

 private:
  std::string folder_;
};

TEST_F(PostClientTls, ACertificateOfAGivenAuthorityIsTrusted) {
  make_certificate("localhost");
  MockServerThread server(replies({answering("secret words")}));
  const TlsFront front(certificate_file(), key_file(), server.port());
  OpenAiOptions options = options_for(server);
  options.base_url = "https://localhost:" + std::to_string(front.port()) + "/v1";
  options.ca_file = certificate_file();
  const auto model = open_model(options);
  EXPECT_EQ(get_answer(*model, ask("hello")).text, "secret words");
  EXPECT_EQ(get_answer(*model, ask("again")).text, "secret words");
  EXPECT_EQ(server.counts().connections, 1U);
}

TEST_F(PostClientTls, AnUnknownCertificateIsRefusedAndTheKeyStaysHere) {
  make_certificate("localhost");
  MockServerThread server(replies({answering("not to be heard")}));
  const TlsFront front(certificate_file(), key_file(), server.port());
  OpenAiOptions options = options_for(server);
  options.base_url = "https://localhost:" + std::to_string(front.port()) + "/v1";
  const ModelError error = get_error(*open_model(options), ask("hello"));
  EXPECT_EQ(error.kind, ModelErrorKind::Unreachable);
  EXPECT_THAT(error.message, HasSubstr("its certificate is not trusted"));
  EXPECT_EQ(error.usage.attempts, 1U);
  EXPECT_EQ(server.counts().requests, 0U);
}

TEST_F(PostClientTls, ACertificateForAnotherHostIsRefused) {
  make_certificate("elsewhere.example");
  MockServerThread server(replies({answering("not to be heard")}));
  const TlsFront front(certificate_file(), key_file(), server.port());
  OpenAiOptions options = options_for(server);
  options.base_url = "https://localhost:" + std::to_string(front.port()) + "/v1";
  options.ca_file = certificate_file();
  options.retry.attempts_max = 1;
  EXPECT_EQ(get_error(*open_model(options), ask("hello")).kind, ModelErrorKind::Unreachable);
  EXPECT_EQ(server.counts().requests, 0U);
}

}  // namespace
}  // namespace tenon::inference
