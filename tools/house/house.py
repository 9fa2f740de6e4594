#!/usr/bin/python3
"""House rules that a program can check.

    house.py RULE [--root FOLDER]     check one rule; prints each finding as file:line: words
    house.py --list                   the rules

A rule is a function from a Tree to findings. house_test.py shows that each catches what it should.
"""
import argparse
import os
import re
import subprocess
import sys
import textwrap
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from include_rule import check_heavy_headers, check_includes

CODE = (".cpp", ".hpp")
SCRIPTS = (".py", ".sh", ".cmake")
CODE_FOLDERS = ("include", "src", "app", "tests", "examples", "bench", "fuzz")

LINES_PER_FILE_MAX = 700
COLUMNS_CODE_MAX = 130
COLUMNS_TEXT_MAX = 160

# file -> why it may be longer than LINES_PER_FILE_MAX
LONG_FILES = {}
# file -> why it may sleep
SLEEPERS = {"bench/measure.cpp": "a benchmark keeps a pace, and looks at counters of another process"}


@dataclass
class Tree:
    """The text files that belong to the repository: path relative to the root -> lines."""

    files: dict = field(default_factory=dict)

    @staticmethod
    def read(root):
        tree = Tree()
        for name in sorted(tracked(root)):
            try:
                tree.files[name] = (Path(root) / name).read_text(encoding="utf-8").splitlines()
            except (UnicodeDecodeError, FileNotFoundError, IsADirectoryError):
                continue  # binary, or deleted and not yet committed
        return tree

    def of(self, *endings, under=()):
        for name, lines in self.files.items():
            if name.endswith(endings) and (not under or name.split("/")[0] in under):
                yield name, lines

    def scripts(self):
        for name, lines in self.files.items():
            if name.endswith(SCRIPTS) or (lines and lines[0].startswith("#!")) or name.endswith("CMakeLists.txt"):
                yield name, lines


def tracked(root):
    """What git knows or would add; without git, as in an unpacked archive, every file outside build folders."""
    git = subprocess.run(
        ["git", "-C", str(root), "ls-files", "--cached", "--others", "--exclude-standard"],
        capture_output=True, text=True, check=False)
    if git.returncode == 0 and git.stdout:
        return set(git.stdout.splitlines())
    names = set()
    for folder, subfolders, files in os.walk(root):
        subfolders[:] = [s for s in subfolders if s not in (".git", "build", ".cache")]
        names.update(os.path.relpath(os.path.join(folder, f), root) for f in files)
    return names


def matches(files, pattern):
    for name, lines in files:
        for number, line in enumerate(lines, 1):
            found = pattern.search(line)
            if found:
                yield name, number, found.group(0).strip()


# Patterns are spelled so that this file does not match itself.
MARKERS = re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X|HA" r"CK|W" r"IP)\b|not (yet )?imple" r"mented|#if[ ]0\b|\bDIS" r"ABLED_")
SLEEPS = re.compile(r"\b(sleep_" r"for|sleep_" r"until|u" r"sleep|nano" r"sleep|(?<![.>\w])sl" r"eep)\s*\(")
PATHS = re.compile(r"(?<![\w.$}])/(roo" r"t|Us" r"ers|ho" r"me/\w+)/")


def check_markers(tree):
    for name, number, word in matches(tree.files.items(), MARKERS):
        yield name, number, f"leftover: {word}"


def check_sleeps(tree):
    for name, number, word in matches(tree.of(*CODE, under=CODE_FOLDERS), SLEEPS):
        if name not in SLEEPERS:
            yield name, number, f"{word}…) waits for no event: wait for what must happen, with a deadline, or pass a clock in"


def check_length(tree):
    checked = dict(tree.of(*CODE)) | dict(tree.scripts())
    for name, lines in checked.items():
        if len(lines) > LINES_PER_FILE_MAX and name not in LONG_FILES:
            yield name, len(lines), f"more than {LINES_PER_FILE_MAX} lines: has this file one job?"


def check_lines(tree):
    limits = {n: COLUMNS_CODE_MAX for n, _ in list(tree.of(*CODE)) + list(tree.scripts())}
    limits.update({n: COLUMNS_TEXT_MAX for n, _ in tree.of(".md")})
    for name, limit in limits.items():
        for number, line in enumerate(tree.files[name], 1):
            # A table's row cannot be broken, nor can a link; code says so when a line has to be longer.
            if len(line) > limit and not line.lstrip().startswith("|") and "http" not in line and "NOLINT" not in line:
                yield name, number, f"{len(line)} columns, at most {limit}"
            if line != line.rstrip() and not name.endswith(".md"):
                yield name, number, "white space at the end of the line"


def check_paths(tree):
    for name, number, word in matches(tree.files.items(), PATHS):
        yield name, number, f"path of one machine: {word}"


def shown_to_users(name):
    return name == "README.md" or name.startswith("docs/guide/")


def code_blocks(lines, language):
    """(line number, lines) of each fenced block."""
    start = None
    for number, line in enumerate(lines, 1):
        if line.strip() == f"```{language}":
            start = number
        elif line.strip() == "```" and start is not None:
            yield start, lines[start:number - 1]
            start = None


def stands_in(block, lines):
    wanted = textwrap.dedent("\n".join(block))
    windows = (lines[at:at + len(block)] for at in range(len(lines) - len(block) + 1))
    return any(textwrap.dedent("\n".join(window)) == wanted for window in windows)


def check_snippets(tree):
    programs = [lines for _, lines in tree.of(*CODE, under=("examples",))]
    for name, lines in tree.of(".md"):
        if shown_to_users(name):
            for number, block in code_blocks(lines, "cpp"):
                if not any(stands_in(block, program) for program in programs):
                    yield name, number, "this code stands in no program of examples/: what users copy is compiled and run"


LINK = re.compile(r"(?<!`)\[[^\]\n]*\]\(([^)\s]+)\)")


def check_links(tree):
    folders = {str(parent) for name in tree.files for parent in PurePosixPath(name).parents}
    for name, lines in tree.of(".md"):
        for number, line in enumerate(prose(lines), 1):
            for target in LINK.findall(line):
                words = link_fault(tree, folders, name, target)
                if words:
                    yield name, number, words


def prose(lines):
    """The lines of a document, those of fenced blocks empty."""
    fenced = False
    for line in lines:
        fence = line.lstrip().startswith("```")
        yield "" if fenced or fence else line
        fenced ^= fence


def link_fault(tree, folders, name, target):
    if re.match(r"[a-z]+:", target):
        return None  # somewhere else
    path, _, anchor = target.partition("#")
    file = os.path.normpath(os.path.join(os.path.dirname(name), path)) if path else name
    if file not in tree.files:
        return None if file in folders and not anchor else f"link to nothing: {target}"
    if anchor and file.endswith(".md") and anchor not in anchors(tree.files[file]):
        return f"{file} has no heading #{anchor}"
    return None


def anchors(lines):
    """The names under which headings can be linked to."""
    return {re.sub(r"[^\w\- ]", "", line.lstrip("#").strip().lower()).replace(" ", "-")
            for line in prose(lines) if line.startswith("#")}


RULES = {
    "includes": check_includes,
    "heavy-headers": check_heavy_headers,
    "markers": check_markers,
    "sleeps": check_sleeps,
    "length": check_length,
    "lines": check_lines,
    "paths": check_paths,
    "snippets": check_snippets,
    "links": check_links,
}


def main():
    parser = argparse.ArgumentParser(description="Check a house rule.")
    parser.add_argument("rule", nargs="?", choices=RULES)
    parser.add_argument("--root", default=Path(__file__).resolve().parents[2])
    parser.add_argument("--list", action="store_true")
    arguments = parser.parse_args()
    if arguments.list or not arguments.rule:
        print("\n".join(RULES))
        return 0
    tree = Tree.read(arguments.root)
    if not tree.files:
        print(f"{arguments.root} holds no files", file=sys.stderr)
        return 2
    findings = list(RULES[arguments.rule](tree))
    for name, number, words in findings:
        print(f"{name}:{number}: {words}")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
