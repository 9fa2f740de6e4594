// The statements in sql/, built in by cmake/AcemqEmbedSql.cmake. They name the table "{table}".
#pragma once

#include <string_view>

namespace acemq::sqlite_sql {

// The schema, in the order in which it is made.
extern const std::string_view kTable;
extern const std::string_view kPendingIndex;
extern const std::string_view kRelayIndex;
extern const std::string_view kWaitingIndex;

// What the store asks; the parameters stand in each file.
extern const std::string_view kColumns;
extern const std::string_view kSampleTime;
extern const std::string_view kCandidates;
extern const std::string_view kLease;
extern const std::string_view kMarkPublished;
extern const std::string_view kFail;
extern const std::string_view kRelease;
extern const std::string_view kRenew;
extern const std::string_view kBacklog;
extern const std::string_view kRetired;
extern const std::string_view kPurgePublished;

}  // namespace acemq::sqlite_sql
