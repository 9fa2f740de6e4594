# shellcheck shell=sh
# Helpers of the service scripts; sourced, not run.

say() { printf '%s\n' "$*" >&2; }
die() { say "error: $*"; exit 1; }

is_root() { [ "$(id -u)" = 0 ]; }

# free_ports N : print N distinct free loopback TCP ports.  They are picked below the kernel's ephemeral range, so that no
# outgoing connection takes one in the meantime.
free_ports() {
    perl -MIO::Socket::INET -e '
        my ($n, @held) = ($ARGV[0]);
        for (1 .. 2000) {
            last if @held == $n;
            my $s = IO::Socket::INET->new(LocalAddr => "127.0.0.1", Listen => 1,
                                          LocalPort => 12000 + int rand 20000);
            push @held, $s if $s;
        }
        print join(" ", map { $_->sockport } @held), "\n"; exit(@held != $n)' "$1"
}
