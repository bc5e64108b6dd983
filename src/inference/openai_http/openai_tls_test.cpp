#include <cstdlib>
#include <filesystem>

#include "tests/support/openai_testing.h"
#include "tests/support/tls_front.h"

namespace tenon::inference {
namespace {

using testing::HasSubstr;
using namespace tenon::tests;

/// A certificate that signs itself, made for the test by the openssl program.
class OpenAiTls : public testing::Test {
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

TEST_F(OpenAiTls, ACertificateOfAGivenAuthorityIsTrusted) {
  make_certificate("localhost");
  MockServerThread server(replies({answering("secret words")}));
  const TlsFront front(certificate_file(), key_file(), server.port());
  OpenAiOptions options = options_for(server);
  options.base_url = "https://localhost:" + std::to_string(front.port()) + "/v1";
  options.ca_file = certificate_file();
  const auto model = open_model(options);
  EXPECT_EQ(answer_of(*model, ask("hello")).text, "secret words");
  EXPECT_EQ(answer_of(*model, ask("again")).text, "secret words");
  EXPECT_EQ(server.counts().connections, 1U);
}

TEST_F(OpenAiTls, AnUnknownCertificateIsRefusedAndTheKeyStaysHere) {
  make_certificate("localhost");
  MockServerThread server(replies({answering("not to be heard")}));
  const TlsFront front(certificate_file(), key_file(), server.port());
  OpenAiOptions options = options_for(server);
  options.base_url = "https://localhost:" + std::to_string(front.port()) + "/v1";
  const ModelError error = error_of(*open_model(options), ask("hello"));
  EXPECT_EQ(error.kind, ModelErrorKind::Unreachable);
  EXPECT_THAT(error.message, HasSubstr("its certificate is not trusted"));
  EXPECT_EQ(error.usage.attempts, 1U);
  EXPECT_EQ(server.counts().requests, 0U);
}

TEST_F(OpenAiTls, ACertificateForAnotherHostIsRefused) {
  make_certificate("elsewhere.example");
  MockServerThread server(replies({answering("not to be heard")}));
  const TlsFront front(certificate_file(), key_file(), server.port());
  OpenAiOptions options = options_for(server);
  options.base_url = "https://localhost:" + std::to_string(front.port()) + "/v1";
  options.ca_file = certificate_file();
  options.retry.attempts_max = 1;
  EXPECT_EQ(error_of(*open_model(options), ask("hello")).kind, ModelErrorKind::Unreachable);
  EXPECT_EQ(server.counts().requests, 0U);
}

}  // namespace
}  // namespace tenon::inference
