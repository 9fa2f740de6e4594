#!/usr/bin/python3
"""Each house rule catches a bad sample and lets a good one pass."""
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import house
from house import RULES, Tree
from include_rule import public_layer


def findings(rule, **files):
    """Runs a rule on files given as name=text; names are spelled with __ for / and _dot_ for the dot."""
    tree = Tree({n.replace("__", "/").replace("_dot_", "."): t.splitlines() for n, t in files.items()})
    return [words for _, _, words in RULES[rule](tree)]


class IncludeRule(unittest.TestCase):
    def refused(self, why, name, include, *others):
        tree = Tree({name: [f"#include {include}"], **{other: [] for other in others}})
        found = [words for _, _, words in house.check_includes(tree)]
        self.assertEqual(len(found), 1, f"{name} includes {include}: {found}")
        self.assertIn(why, found[0])

    def allowed(self, name, include, *others):
        tree = Tree({name: [f"#include {include}"], **{other: [] for other in others}})
        self.assertEqual(list(house.check_includes(tree)), [])

    def test_a_lower_layer_may_be_included(self):
        self.allowed("src/relay/relay.cpp", '"acemq/transport.hpp"', "include/acemq/transport.hpp")
        self.allowed("src/message/limits.cpp", '"base/utf8.hpp"', "src/base/utf8.hpp")
        self.allowed("src/amqp/session/session.cpp", '"amqp/wire/frame.hpp"', "src/amqp/wire/frame.hpp")
        self.allowed("src/store/memory/memory_store.cpp", '"acemq/testing.hpp"', "include/acemq/testing.hpp")

    def test_a_higher_layer_may_not(self):
        self.refused("base may not include message", "src/base/uuid.cpp", '"message/limits.hpp"', "src/message/limits.hpp")
        self.refused("amqp/wire may not include amqp/session", "src/amqp/wire/frame.cpp", '"amqp/session/session.hpp"',
                     "src/amqp/session/session.hpp")

    def test_the_relay_knows_no_database_and_no_amqp(self):
        self.refused("relay may not include store/sqlite", "src/relay/relay.cpp", '"acemq/sqlite_store.hpp"',
                     "include/acemq/sqlite_store.hpp")
        self.refused("relay may not include amqp", "src/relay/relay.cpp", '"acemq/amqp.hpp"', "include/acemq/amqp.hpp")
        self.refused("relay may not include sqlite3.h", "src/relay/relay.cpp", "<sqlite3.h>")

    def test_a_public_header_is_public_all_the_way(self):
        self.refused("public headers only", "include/acemq/headers.hpp", '"base/utf8.hpp"', "src/base/utf8.hpp")
        self.refused("may not include nlohmann", "include/acemq/headers.hpp", "<nlohmann/json.hpp>")
        self.refused("standard library only", "include/acemq/headers.hpp", "<unistd.h>")
        self.allowed("include/acemq/adapters/sqlite.hpp", "<sqlite3.h>")

    def test_the_session_touches_no_socket_and_no_thread(self):
        self.refused("no input or output", "src/amqp/session/session.cpp", "<sys/socket.h>")
        self.refused("knows no threads", "src/amqp/session/session.cpp", "<thread>")
        self.refused("knows no threads", "src/outbox/record.cpp", "<thread>")
        self.allowed("src/amqp/transport/byte_stream.cpp", "<sys/socket.h>")

    def test_nobody_includes_the_program(self):
        self.refused("nobody includes app", "tests/relay/x_test.cpp", '"app/options.hpp"', "app/options.hpp")
        self.allowed("tests/app/x_test.cpp", '"app/options.hpp"', "app/options.hpp")

    def test_unknown_places_are_named(self):
        self.refused("no public header", "src/relay/relay.cpp", '"acemq/none.hpp"')
        self.refused("as it stands below src/", "src/relay/relay.cpp", '"policy.hpp"', "src/relay/policy.hpp")
        self.refused("third-party header", "src/relay/relay.cpp", "<boost/asio.hpp>")
        self.assertIn("belongs to no layer", findings("includes", src__new_folder__x_dot_cpp="")[0])

    def test_every_public_header_has_a_layer(self):
        root = Path(__file__).resolve().parents[2]
        for header in (root / "include/acemq").rglob("*.hpp"):
            name = header.relative_to(root / "include/acemq").as_posix()
            self.assertIsNotNone(public_layer(name), name)


class OtherRules(unittest.TestCase):
    def test_heavy_headers_stand_in_one_source_file(self):
        one = {"src__relay__a_dot_cpp": "#include <nlohmann/json.hpp>"}
        self.assertEqual(findings("heavy-headers", **one), [])
        self.assertEqual(len(findings("heavy-headers", **one, src__relay__b_dot_cpp="#include <nlohmann/json.hpp>")), 2)
        self.assertEqual(len(findings("heavy-headers", src__relay__a_dot_hpp="#include <CLI/CLI.hpp>")), 1)

    def test_leftover_markers(self):
        for word in ("TO" "DO", "FIX" "ME", "not imple" "mented", "#if" " 0", "DIS" "ABLED_Test"):
            self.assertEqual(len(findings("markers", src__base__a_dot_cpp=f"// {word} later")), 1, word)
        self.assertEqual(findings("markers", src__base__a_dot_cpp="// todos are for people"), [])

    def test_sleeping_code(self):
        for call in ("std::this_thread::sleep_" "for(1s)", "u" "sleep(10)", "::sl" "eep(1)"):
            self.assertEqual(len(findings("sleeps", tests__relay__a_dot_cpp=f"{call};")), 1, call)
        self.assertEqual(findings("sleeps", src__relay__a_dot_cpp="channel.wait(deadline); // no sleep"), [])

    def test_long_files(self):
        self.assertEqual(findings("length", src__base__a_dot_cpp="x\n" * 700), [])
        self.assertEqual(len(findings("length", src__base__a_dot_cpp="x\n" * 701)), 1)

    def test_long_lines(self):
        self.assertEqual(findings("lines", src__base__a_dot_cpp="x" * 130), [])
        self.assertEqual(len(findings("lines", src__base__a_dot_cpp="x" * 131)), 1)
        self.assertEqual(len(findings("lines", src__base__a_dot_cpp="x ")), 1)
        self.assertEqual(findings("lines", README_dot_md="| " + "x" * 300), [])
        self.assertEqual(len(findings("lines", README_dot_md="x" * 161)), 1)

    def test_paths_of_one_machine(self):
        for path in ("/roo" "t/x", "/ho" "me/ann/x", "/Us" "ers/ann/x"):
            self.assertEqual(len(findings("paths", docs__a_dot_md=f"see {path}")), 1, path)
        self.assertEqual(findings("paths", docs__a_dot_md="build/dev/x and $root/home/"), [])

    def test_snippets_stand_in_the_examples(self):
        program = {"examples__a_dot_cpp": "int main() {\n  one();\n    two();\n}"}
        for text, faults in (("one();\n  two();", 0), ("one();\ntwo();", 1), ("three();", 1)):
            document = f"# A\n```cpp\n{text}\n```\n```\nanything\n```"
            self.assertEqual(len(findings("snippets", **program, README_dot_md=document)), faults, text)
            self.assertEqual(len(findings("snippets", **program, docs__guide__a_dot_md=document)), faults, text)
            self.assertEqual(findings("snippets", **program, docs__DESIGN_dot_md=document), [])

    def test_links_lead_somewhere(self):
        there = {"docs__b_dot_md": "# B\n## 5.3 What, then?\n```\n# no heading\n```", "src__base__x_dot_cpp": ""}
        for target, faults in (("b.md", 0), ("b.md#53-what-then", 0), ("#a", 0), ("../src/base/", 0), ("https://x.org/y", 0),
                               ("c.md", 1), ("b.md#no-heading", 1), ("b.md#other", 1), ("#b", 1), ("../../b.md", 1)):
            found = findings("links", **there, docs__a_dot_md=f"# A\nsee [it]({target}) there")
            self.assertEqual(len(found), faults, f"{target}: {found}")
        self.assertEqual(findings("links", a_dot_md="```\n[it](nowhere.md)\n```"), [])


class CommandLine(unittest.TestCase):
    def test_a_finding_is_an_exit_code(self):
        with tempfile.TemporaryDirectory() as root:
            (Path(root) / "a.cpp").write_text("// TO" "DO\n", encoding="utf-8")
            command = [sys.executable, Path(house.__file__), "markers", "--root", root]
            bad = subprocess.run(command, capture_output=True, text=True, check=False)
            self.assertEqual((bad.returncode, bad.stdout), (1, "a.cpp:1: leftover: TO" "DO\n"))
            (Path(root) / "a.cpp").write_text("int a;\n", encoding="utf-8")
            self.assertEqual(subprocess.run(command, check=False).returncode, 0)


if __name__ == "__main__":
    unittest.main()
