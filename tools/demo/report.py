#!/usr/bin/python3
"""Compares what the shop committed with what a consumer received; none of its code is ours.

    report.py DATABASE RECEIVED                        one line: where things stand now
    report.py DATABASE RECEIVED --placed N --rolled-back N   the final account; the exit code says whether it adds up
"""
import argparse
import sqlite3
import sys

ATTEMPTS_MAX = 10


class Account:
    """Every number here is counted anew: in the shop's tables, and in the lines that the consumer wrote."""

    def __init__(self, database, received):
        with sqlite3.connect(f"file:{database}?mode=ro", uri=True, timeout=10) as db:
            def count(sql):
                return db.execute(f"SELECT count(*) FROM {sql}").fetchone()[0]

            self.orders = {number for (number,) in db.execute("SELECT number FROM orders")}
            self.rows = count("acemq_outbox")
            self.published = count("acemq_outbox WHERE published_at IS NOT NULL")
            self.retired = count(f"acemq_outbox WHERE published_at IS NULL AND attempts >= {ATTEMPTS_MAX}")
            self.attempts = count("acemq_outbox WHERE attempts > 0")
        with open(received, encoding="utf-8") as lines:
            messages = [line.split() for line in lines if line.endswith("\n")]
        self.messages = len(messages)
        self.ids = len({message for message, _ in messages})
        seen = {int(order) for _, order in messages}
        self.lost = len(self.orders - seen)
        self.ghosts = len(seen - self.orders)

    def pending(self):
        return self.rows - self.published


class Screen:
    def __init__(self):
        unicode = (sys.stdout.encoding or "").lower().startswith("utf")
        self.right, self.wrong = ("✓", "✗") if unicode else ("ok", "WRONG")
        self.adds_up = True

    def title(self, words):
        print(f"\n  {words}")

    def line(self, what, number, holds=None, why=""):
        mark = ""
        if holds is not None:
            mark = self.right if holds else self.wrong
            self.adds_up = self.adds_up and holds
        print(f"    {what:<32}{number:>7,}  {mark:<2} {why}".rstrip())


def final(account, placed, rolled_back):
    committed = len(account.orders)
    screen = Screen()
    screen.title("The shop, by its own table of orders")
    screen.line("orders placed", placed)
    screen.line("committed", committed, committed == placed - rolled_back, "placed, less rolled back")
    screen.line("rolled back", rolled_back)
    screen.title("The outbox, a table in the same database")
    screen.line("rows", account.rows, account.rows == committed, "one for each committed order")
    screen.line("published", account.published, account.published == committed, "each marked after the broker's confirm")
    screen.line("retired (given up)", account.retired, account.retired == 0)
    screen.line("rows charged an attempt", account.attempts, account.attempts == 0, "the outage cost none")
    screen.title("The warehouse, an independent consumer of RabbitMQ")
    screen.line("messages received", account.messages, account.messages >= committed)
    screen.line("distinct message ids", account.ids, account.ids == committed, "one for each committed order")
    screen.line("duplicates", account.messages - account.ids, None, "allowed when a connection breaks: same id")
    screen.line("committed orders lost", account.lost, account.lost == 0)
    screen.line("rolled-back orders announced", account.ghosts, account.ghosts == 0)
    print("\n  " + ("It adds up: both or neither, and nothing lost." if screen.adds_up else "IT DOES NOT ADD UP.") + "\n")
    return 0 if screen.adds_up else 1


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("database")
    parser.add_argument("received")
    parser.add_argument("--placed", type=int)
    parser.add_argument("--rolled-back", type=int)
    arguments = parser.parse_args()
    account = Account(arguments.database, arguments.received)
    if arguments.placed is not None:
        return final(account, arguments.placed, arguments.rolled_back)
    print(f"committed {len(account.orders)}, published {account.published}, waiting {account.pending()}, received {account.ids}, "
          f"charged an attempt {account.attempts}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
