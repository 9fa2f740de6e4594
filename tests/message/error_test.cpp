#include "acemq/error.hpp"

#include <gtest/gtest.h>

#include "base/utf8.hpp"

namespace {

using acemq::ErrorAnswers;
using acemq::Failure;
using acemq::FailureClass;

std::string spelled(const ErrorAnswers& answers) {
  return std::string(answers.record_at_fault ? "fault " : "") + (answers.may_have_happened ? "happened " : "") +
         (answers.connection_usable ? "usable " : "") + (answers.try_again ? "again" : "");
}

// A refused value is shown whole when short.
TEST(InvalidRecord, NamesFieldRuleAndValue) {
  const acemq::InvalidRecord error("to", "must be short", "a.b");
  EXPECT_STREQ(error.what(), "to must be short; given: a.b");
  EXPECT_EQ(error.field(), "to");
  EXPECT_EQ(error.rule(), "must be short");
  EXPECT_EQ(error.value(), "a.b");
  EXPECT_EQ(spelled(error.answers()), "fault usable ");
}

// A long value is cut between characters, and what is no text becomes text: an error must not break a log.
TEST(InvalidRecord, CutsTheValueBetweenCharacters) {
  std::string value;
  for (int i = 0; i < 5000; ++i) value += "\xf0\x9f\x98\x80";
  const acemq::InvalidRecord error("type", "must be short", value);
  EXPECT_TRUE(acemq::base::is_storable_text(error.what()));
  EXPECT_LT(error.value().size(), 450U);
  EXPECT_NE(error.value().find("... (20000 bytes)"), std::string::npos);
  EXPECT_TRUE(acemq::base::is_storable_text(acemq::InvalidRecord("id", "must be text", std::string("\xff\0", 2)).what()));
}

// A configuration is not the record's fault, and another attempt with it fails the same.
TEST(InvalidConfiguration, IsNotTheRecordsFault) {
  const acemq::InvalidConfiguration error("table", "must be a name", "x y");
  EXPECT_STREQ(error.what(), "table must be a name; given: x y");
  EXPECT_EQ(spelled(error.answers()), "usable ");
}

// The conflict names id and field, and leaves the transaction usable.
TEST(IdConflict, NamesIdAndField) {
  const acemq::IdConflict error("A-1", "body");
  EXPECT_STREQ(error.what(), "another record with the id A-1 is stored already; it differs in body");
  EXPECT_EQ(spelled(error.answers()), "fault usable ");
}

// What each class of failure answers.
TEST(Failure, AnswersByClass) {
  const auto answers = [](FailureClass failure_class, std::uint16_t code = 0) {
    return spelled(Failure{.failure_class = failure_class, .code = code}.answers());
  };
  EXPECT_EQ(answers(FailureClass::refusal), "fault usable ");
  EXPECT_EQ(answers(FailureClass::refusal, 406), "fault usable ");
  EXPECT_EQ(answers(FailureClass::overload), "happened usable again") << "one of several queues may have it";
  EXPECT_EQ(answers(FailureClass::outage), "again");
  EXPECT_EQ(answers(FailureClass::in_doubt), "happened again");
  EXPECT_EQ(answers(FailureClass::suspect), "happened again");
  EXPECT_EQ(answers(FailureClass::store), "happened usable again") << "the message may be out and only its mark missing";
}

// The words that logs and last_error use.
TEST(FailureClass, HasAName) {
  using enum FailureClass;
  std::string names;
  for (const FailureClass one : {refusal, overload, outage, in_doubt, suspect, store}) names += std::string(to_string(one)) + " ";
  EXPECT_EQ(names, "refusal overload outage in doubt suspect store ");
}

// No route, no exchange, no right: somebody can cure these while the record stays as it is.
TEST(Failure, MissingTopologyIsNotTheRecordsFault) {
  for (const std::uint16_t code : {std::uint16_t{312}, std::uint16_t{403}, std::uint16_t{404}}) {
    EXPECT_EQ(spelled(Failure{.failure_class = FailureClass::refusal, .code = code}.answers()), "usable again") << code;
  }
}

// The broker's words stand behind ours in the text, and apart from them in the value.
TEST(PublishError, KeepsTheBrokersWordsApartAndShowsThem) {
  const acemq::PublishError error(
      {.failure_class = FailureClass::in_doubt, .code = 320, .reason = "connection lost", .server_text = "CONNECTION_FORCED"});
  EXPECT_STREQ(error.what(), "in doubt: connection lost (CONNECTION_FORCED)");
  EXPECT_EQ(error.failure().reason, "connection lost");
  EXPECT_EQ(error.failure().server_text, "CONNECTION_FORCED");
  EXPECT_EQ(spelled(error.answers()), "happened again");
}

}  // namespace
