"""The include rule of docs/ARCHITECTURE.md: what each layer may include. A layer is a folder of src/ with the public headers
that belong to it."""
import re

# layer -> the layers it may include, itself left out. A folder that is not here has no place yet: give it one, here and in
# docs/ARCHITECTURE.md.
LAYERS = {
    "base": (),
    "message": ("base",),
    "outbox": ("base", "message"),
    "relay": ("base", "message", "outbox"),
    "publish": ("base", "message", "outbox"),
    "store/sqlite": ("base", "message", "outbox"),
    "amqp/wire": ("base", "message", "amqp"),
    "amqp/session": ("base", "message", "amqp", "amqp/wire"),
    "amqp/transport": ("base", "message", "amqp", "amqp/wire", "amqp/session"),
    "amqp": ("base", "message"),  # the public header only
    "testing": ("base", "message", "outbox"),
    "adapters": ("base", "message", "outbox"),
}
# Folders of src/ that belong to a layer of another name.
ALIASES = {"store/memory": "testing"}

PUBLIC_LAYERS = {
    "clock.hpp": "base",
    "error.hpp": "base",
    "headers.hpp": "message",
    "envelope.hpp": "message",
    "codec.hpp": "message",
    "message_factory.hpp": "message",
    "transport.hpp": "message",
    "outbox/record.hpp": "outbox",
    "outbox/insert.hpp": "outbox",
    "outbox/store.hpp": "outbox",
    "outbox/relay.hpp": "relay",
    "observer.hpp": "relay",
    "connection.hpp": "publish",
    "after_commit.hpp": "publish",
    "sqlite_store.hpp": "store/sqlite",
    "amqp.hpp": "amqp",
    "testing.hpp": "testing",
}
PUBLIC_FOLDERS = {"testing/": "testing", "adapters/": "adapters"}

# Layers that do no input or output, start no thread and wait for nothing: standard headers only, and not these.
PURE = {"amqp/wire", "amqp/session"}
THREADLESS = {"base", "message", "outbox", "amqp/wire", "amqp/session"}
THREADS = {"thread", "condition_variable", "future", "stop_token", "semaphore", "barrier", "latch"}

# Third-party header (a prefix) -> the layers that may include it; app, tests, examples and bench may include any.
FOREIGN = {
    "sqlite3.h": ("store/sqlite", "adapters"),
    "nlohmann/": ("relay", "adapters"),
    "openssl/": ("amqp/transport",),
    "CLI/": (),
}
# Parsing one of these takes seconds: one source file each in src and app.
HEAVY = ("nlohmann/json.hpp", "CLI/")

STANDARD = set("""
algorithm any array atomic barrier bit bitset cctype cerrno cfenv cfloat charconv chrono cinttypes climits clocale cmath compare
complex concepts condition_variable coroutine csetjmp csignal cstdarg cstddef cstdint cstdio cstdlib cstring ctime cuchar cwchar
cwctype deque exception execution filesystem format forward_list fstream functional future initializer_list iomanip ios iosfwd
iostream istream iterator latch limits list locale map memory memory_resource mutex new numbers numeric optional ostream queue
random ranges ratio regex scoped_allocator semaphore set shared_mutex source_location span sstream stack stdexcept stop_token
streambuf string string_view strstream syncstream system_error thread tuple type_traits typeindex typeinfo unordered_map
unordered_set utility valarray variant vector version
""".split())

INCLUDE = re.compile(r'^\s*#\s*include\s*(?:<([^>]+)>|"([^"]+)")')


def includes(lines):
    """(line number, header, whether it stood in quotes)"""
    for number, line in enumerate(lines, 1):
        found = INCLUDE.match(line)
        if found:
            yield number, found.group(1) or found.group(2), found.group(2) is not None


def public_layer(header):
    """The layer of a header below include/acemq/, or None."""
    for folder, layer in PUBLIC_FOLDERS.items():
        if header.startswith(folder):
            return layer
    return PUBLIC_LAYERS.get(header)


def source_layer(path):
    """The layer of a file below src/, or None."""
    folders = path.split("/")[:-1]
    for length in (2, 1):
        layer = "/".join(folders[:length])
        layer = ALIASES.get(layer, layer)
        if layer in LAYERS and (length == 2 or layer != "amqp"):
            return layer
    return None


def layer_of(name):
    if name.startswith("include/acemq/"):
        return public_layer(name.removeprefix("include/acemq/"))
    return source_layer(name.removeprefix("src/"))


def check_includes(tree):
    for name, lines in tree.of(".cpp", ".hpp"):
        folder = name.split("/")[0]
        if folder in ("include", "src"):
            layer = layer_of(name)
            if layer is None:
                yield name, 1, "belongs to no layer: name it in tools/house/include_rule.py and docs/ARCHITECTURE.md"
                continue
            for number, header, quoted in includes(lines):
                words = quoted_fault(tree, name, layer, header) if quoted else system_fault(name, layer, header)
                if words:
                    yield name, number, words
        elif not name.startswith(("app/", "tests/app/")):
            for number, header, quoted in includes(lines):
                if quoted and (header.startswith("app/") or "/app/" in header):
                    yield name, number, f"nobody includes app: {header}"


def quoted_fault(tree, name, layer, header):
    public = name.startswith("include/")
    if header.startswith("acemq/"):
        if f"include/{header}" not in tree.files:
            return f"there is no public header {header}"
        other = public_layer(header.removeprefix("acemq/"))
    elif public:
        return f"a public header includes public headers only: {header}"
    elif f"src/{header}" in tree.files:
        other = source_layer(header)
    else:
        return f"write it as it stands below src/ or include/: {header}"
    if other is None:
        return f"{header} belongs to no layer"
    if other != layer and other not in LAYERS[layer]:
        return f"{layer} may not include {other}: {header}"
    return None


def system_fault(name, layer, header):
    if header.startswith("acemq/"):
        return f"our own headers stand in quotes: {header}"
    if header in THREADS and layer in THREADLESS:
        return f"{layer} knows no threads: {header}"
    if header in STANDARD:
        return None
    for prefix, layers in FOREIGN.items():
        if header.startswith(prefix):
            return None if layer in layers else f"{layer} may not include {header}"
    if name.startswith("include/") and layer != "adapters":
        return f"a public header includes the standard library only: {header}"
    if layer in PURE:
        return f"{layer} does no input or output: {header}"
    if "/" in header and not header.startswith(("sys/", "netinet/", "arpa/", "linux/")):
        return f"third-party header that no layer is known to need: {header}"
    return None


def check_heavy_headers(tree):
    for heavy in HEAVY:
        users = []
        for name, lines in tree.of(".cpp", ".hpp", under=("src", "app", "include")):
            if name.startswith("include/acemq/adapters/"):
                continue
            for number, header, _ in includes(lines):
                if header.startswith(heavy):
                    users.append((name, number, header))
        sources = {name for name, _, _ in users if name.endswith(".cpp")}
        for name, number, header in users:
            if name.endswith(".hpp"):
                yield name, number, f"{header} in a header reaches every file that includes it: hide it in one source file"
            elif len(sources) > 1:
                yield name, number, f"{header} belongs in one source file, not in {len(sources)}"
