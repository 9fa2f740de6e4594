#include "app/command_line.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <memory>

#include <CLI/CLI.hpp>

#include "acemq/outbox/insert.hpp"
#include "app/failure.hpp"
#include "app/secrets.hpp"
#include "app/spelling.hpp"

namespace acemq::app {
namespace {

constexpr const char* kFooter = R"(Exit codes:
  0  done
  1  failed: the database, a file or the output
  2  command line, setting or record refused; nothing was done
  3  add: the id is taken by another record
  4  sweep: a message did not go out
 75  relay: the time for outstanding confirms ran out
128  and the number of the signal: ended at once, or sweep --all before its end

Settings in [brackets] may come from the environment; a flag wins.)";

// Collects the text of flags that are settings, and turns what was parsed into a Command.
class Parser {
 public:
  explicit Parser(Settings::Environment environment) : environment_(std::move(environment)) {
    app_.require_subcommand(1);
    app_.footer(kFooter);
    app_.set_version_flag("--version", "acemq " ACEMQ_VERSION);
    declare_init();
    declare_add();
    declare_relay();
    declare_sweep();
    declare_status();
    declare<VersionArguments>("version", "Print the version", [](const Settings&) { return VersionArguments{}; });
  }

  CommandLine parse(std::vector<std::string> arguments) {
    check_subcommand(arguments);
    std::reverse(arguments.begin(), arguments.end());  // as CLI11 wants them
    try {
      app_.parse(arguments);
    } catch (const CLI::CallForHelp&) {
      return {HelpArguments{app_.help()}};
    } catch (const CLI::CallForVersion&) {
      return {VersionArguments{}};
    } catch (const CLI::ParseError& error) {
      refuse(error);
    }
    const std::string name = app_.get_subcommands().front()->get_name();
    return {makers_.at(name)(Settings(flags_, environment_)), json_};
  }

 private:
  using Maker = std::function<Command(const Settings&)>;

  // --- what every subcommand is made of ---

  template <class Arguments, class Make>
  CLI::App& declare(const std::string& name, const std::string& description, Make make) {
    CLI::App& subcommand = *app_.add_subcommand(name, description);
    subcommand.add_flag("--json", json_, "JSON instead of words");
    makers_[name] = [make](const Settings& settings) -> Command { return Arguments{make(settings)}; };
    return subcommand;
  }

  // A flag whose text is a setting.
  CLI::Option* setting(CLI::App& subcommand, const std::string& name, const std::string& description) {
    return subcommand.add_option_function<std::string>(
        "--" + name, [this, name](const std::string& text) { flags_[name] = text; },
        description + " [" + environment_name(name) + "]");
  }

  void database_settings(CLI::App& subcommand) {
    setting(subcommand, "db", "The database, as in sqlite:shop.db");
    setting(subcommand, "table", "The outbox table (acemq_outbox)");
  }

  static std::string database(const Settings& settings) { return settings.required("db", "as in --db sqlite:shop.db"); }
  static std::string table(const Settings& settings) { return settings.text("table", outbox::kDefaultTable); }

  void broker_setting(CLI::App& subcommand) {
    setting(subcommand, "broker", "The broker, as in amqp://user:password@host/%2f; prefer the environment for a password");
  }
  static std::string broker(const Settings& settings) {
    return settings.required("broker", "as in ACEMQ_URL=amqp://user:password@host/%2f");
  }

  void relay_settings(CLI::App& subcommand) {
    setting(subcommand, "batch", "Rows per claim (100)");
    setting(subcommand, "window", "Unconfirmed messages at most (1000)");
    setting(subcommand, "lease", "How long a claimed row is ours (60s)");
    setting(subcommand, "attempts", "Failures after which a row is retired (10)");
    setting(subcommand, "confirm-timeout", "Wait for a confirm (30s)");
    setting(subcommand, "open-timeout", "Wait for connect, handshake and login (30s)");
    setting(subcommand, "close-timeout", "Wait for outstanding confirms at the end (10s)");
    setting(subcommand, "ordering", "stream, lane or serial (stream)");
    setting(subcommand, "on-failure", "What a failing record stops: lane or batch (lane)");
    subcommand
        .add_option("--without-mandatory", without_mandatory_,
                    "An exchange whose type always returns messages: unroutable ones are lost silently there; may be repeated")
        ->allow_extra_args(false);
  }

  outbox::RelayOptions relay_options(const Settings& settings) const {
    static const std::array<std::string, 3> orderings{"stream", "lane", "serial"};
    static const std::array<std::string, 2> stops{"lane", "batch"};
    const outbox::RelayOptions defaults;
    return {.interval = settings.duration("interval", defaults.interval),
            .batch = settings.count("batch", defaults.batch),
            .window = settings.count("window", defaults.window),
            .lease = settings.duration("lease", defaults.lease),
            .attempts_max = attempts(settings),
            .confirm_timeout = settings.duration("confirm-timeout", defaults.confirm_timeout),
            .open_timeout = settings.duration("open-timeout", defaults.open_timeout),
            .close_timeout = settings.duration("close-timeout", defaults.close_timeout),
            .ordering = outbox::Ordering(settings.choice("ordering", orderings, 0)),
            .on_failure = outbox::OnFailure(settings.choice("on-failure", stops, 0)),
            .exchanges_without_mandatory = without_mandatory_};
  }

  static std::int32_t attempts(const Settings& settings) { return static_cast<std::int32_t>(settings.count("attempts", 10)); }

  // --- the subcommands ---

  void declare_init() {
    CLI::App& command = declare<InitArguments>("init", "Make the outbox table, and the SQLite file when there is none",
                                               [this](const Settings& from) {
                                                 InitArguments arguments = init_;
                                                 arguments.db = arguments.print ? from.text("db", "") : database(from);
                                                 arguments.table = table(from);
                                                 return arguments;
                                               });
    database_settings(command);
    command.add_flag("--print", init_.print, "Only print the SQL, for a migration");
    command.add_flag("--wal", init_.wal, "Switch the file to write-ahead logging, for good");
  }

  void declare_add() {
    CLI::App& command = declare<AddArguments>("add", "Write one message to the outbox, in a transaction of its own",
                                              [this](const Settings& from) { return add_arguments(from); });
    database_settings(command);
    command.add_option("--exchange", add_.record.exchange, "The exchange; without it the default one, where --to names a queue");
    command.add_option("--to", add_.record.to, "The routing key")->required();
    command.add_option("--type", add_.record.type, "The message's type (the routing key)");
    // A script whose variable is empty would get a new id each time, and a message for each.
    command.add_option("--id", add_.record.id, "An id, to make a repeated call harmless (a new UUID)")
        ->check([](const std::string& id) { return std::string(id.empty() ? "must not be empty" : ""); }, "");
    command.add_option("--correlation", add_.record.correlation, "The correlation id (the id)");
    command.add_option("--causation", add_.record.causation, "The id of the message that caused this one");
    command.add_option("--header", headers_, "A header, as in tenant=acme; may be repeated")->allow_extra_args(false);
    CLI::Option* text = command.add_flag("--text", text_, "The body is text in UTF-8, not JSON");
    CLI::Option* bytes = command.add_flag("--bytes", bytes_, "The body is bytes, not JSON");
    CLI::Option* type = command.add_option("--content-type", add_.content_type, "The body is bytes of this type");
    text->excludes(bytes)->excludes(type);
    CLI::Option* file = command.add_option("--file", add_.body_file, "Read the body from a file");
    command.add_option("BODY", add_.body, "The body; - reads the standard input")->excludes(file);
  }

  AddArguments add_arguments(const Settings& from) const {
    AddArguments arguments = add_;
    arguments.db = database(from);
    arguments.table = table(from);
    if (text_) arguments.form = BodyForm::text;
    if (bytes_ || !arguments.content_type.empty()) arguments.form = BodyForm::bytes;
    for (const std::string& header : headers_) {
      const auto equals = header.find('=');
      if (equals == std::string::npos) throw CommandFailure(kUsage, "--header must be name=value; given: " + shown(header));
      const std::string name = header.substr(0, equals);
      if (arguments.record.headers.find(name) != nullptr)
        throw CommandFailure(kUsage, "--header " + shown(name) + " is given twice");
      arguments.record.headers.set(name, header.substr(equals + 1));
    }
    if (!arguments.body && !arguments.body_file) {
      throw CommandFailure(kUsage, "the body is missing",
                           "give it as an argument, as --file FILE, or as - for the standard input");
    }
    return arguments;
  }

  void declare_relay() {
    CLI::App& command =
        declare<RelayArguments>("relay", "Publish what is committed, until a signal", [this](const Settings& from) {
          return RelayArguments{.db = database(from), .table = table(from), .broker = broker(from), .relay = relay_options(from)};
        });
    database_settings(command);
    broker_setting(command);
    setting(command, "interval", "How often to look for rows that another process wrote (1s)");
    relay_settings(command);
  }

  void declare_sweep() {
    CLI::App& command = declare<SweepArguments>("sweep", "Publish one batch and return", [this](const Settings& from) {
      return SweepArguments{
          .db = database(from), .table = table(from), .broker = broker(from), .relay = relay_options(from), .all = all_};
    });
    database_settings(command);
    broker_setting(command);
    relay_settings(command);
    command.add_flag("--all", all_, "Batch after batch, until nothing is left or something fails");
  }

  void declare_status() {
    CLI::App& command = declare<StatusArguments>("status", "Count what is pending", [](const Settings& from) {
      return StatusArguments{.db = database(from), .table = table(from), .attempts_max = attempts(from)};
    });
    database_settings(command);
    setting(command, "attempts", "Failures after which a row counts as retired (10)");
  }

  // --- mistakes ---

  void check_subcommand(const std::vector<std::string>& arguments) const {
    std::vector<std::string> names;
    for (const CLI::App* subcommand : app_.get_subcommands({})) names.push_back(subcommand->get_name());
    if (arguments.empty()) throw CommandFailure(kUsage, "a subcommand is needed", spelling_hint("", names) + "; acemq --help");
    const std::string& word = arguments.front();
    if (word.starts_with('-') || std::find(names.begin(), names.end(), word) != names.end()) return;
    throw CommandFailure(kUsage, "there is no subcommand " + shown(word), spelling_hint(word, names));
  }

  [[noreturn]] void refuse(const CLI::ParseError& error) const {
    const auto chosen = app_.get_subcommands();
    const CLI::App& command = chosen.empty() ? app_ : *chosen.front();
    const std::string help = "acemq " + (chosen.empty() ? "" : command.get_name() + " ") + "--help shows what there is";
    const std::vector<std::string> extras = app_.remaining(true);
    if (extras.empty()) throw CommandFailure(kUsage, shown(error.what()), help);

    const auto flag = std::find_if(extras.begin(), extras.end(), [](const std::string& extra) { return extra.starts_with('-'); });
    if (flag == extras.end()) throw CommandFailure(kUsage, "unexpected argument " + shown(extras.front()), help);
    const std::string name = flag->substr(0, flag->find('='));
    std::vector<std::string> flags;
    for (const CLI::Option* option : command.get_options()) flags.push_back(option->get_name());
    if (std::find(flags.begin(), flags.end(), name) != flags.end()) {
      throw CommandFailure(kUsage, name + " stands before the subcommand", "acemq " + command.get_name() + " " + name);
    }
    const std::string near = nearest(name, flags);
    throw CommandFailure(kUsage, "there is no flag " + shown(name), near.empty() ? help : "did you mean " + near + "?");
  }

  Settings::Environment environment_;
  CLI::App app_{"The transactional outbox: writes messages with your data, and sends them once they are committed", "acemq"};
  std::map<std::string, Maker> makers_;

  // Where CLI11 puts what it reads.
  Settings::Flags flags_;
  bool json_ = false;
  InitArguments init_;
  AddArguments add_;
  std::vector<std::string> headers_, without_mandatory_;
  bool text_ = false, bytes_ = false, all_ = false;
};

}  // namespace

CommandLine parse_command_line(std::vector<std::string> arguments, Settings::Environment environment) {
  return Parser(std::move(environment)).parse(std::move(arguments));
}

int run(const HelpArguments& arguments, Output& output) {
  output.text(arguments.text);
  return kOk;
}

}  // namespace acemq::app
