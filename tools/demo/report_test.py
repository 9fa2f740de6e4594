#!/usr/bin/python3
"""The account of the demo is worth something only if it can fail: each kind of loss is planted, and must be found."""
import contextlib
import io
import sqlite3
import tempfile
import unittest
from pathlib import Path

import report


class Accounts(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.database, self.received = Path(folder.name) / "shop.db", Path(folder.name) / "received"
        self.run_sql("CREATE TABLE orders (number INTEGER PRIMARY KEY)",
                     "CREATE TABLE acemq_outbox (id TEXT, published_at TEXT, attempts INTEGER DEFAULT 0)",
                     *(f"INSERT INTO orders VALUES ({number})" for number in (1, 2, 3)),
                     *(f"INSERT INTO acemq_outbox (id, published_at) VALUES ('m{number}', 'then')" for number in (1, 2, 3)))
        self.receive("m1 1", "m2 2", "m3 3")

    def run_sql(self, *statements):
        with contextlib.closing(sqlite3.connect(self.database)) as db, db:
            for statement in statements:
                db.execute(statement)

    def receive(self, *lines):
        self.received.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")

    def verdict(self):
        with contextlib.redirect_stdout(io.StringIO()) as screen:
            code = report.final(report.Account(self.database, self.received), placed=4, rolled_back=1)
        return code, screen.getvalue()

    def adds_up(self):
        code, screen = self.verdict()
        self.assertEqual(code, 0, screen)
        self.assertIn("It adds up", screen)

    def does_not_add_up(self):
        code, screen = self.verdict()
        self.assertEqual(code, 1, screen)
        self.assertIn("DOES NOT ADD UP", screen)

    def test_all_there(self):
        self.adds_up()

    def test_a_duplicate_is_allowed(self):
        self.receive("m1 1", "m2 2", "m2 2", "m3 3")
        self.adds_up()

    def test_a_lost_message(self):
        self.receive("m1 1", "m3 3")
        self.does_not_add_up()

    def test_a_message_of_an_order_that_was_rolled_back(self):
        self.receive("m1 1", "m2 2", "m3 3", "m4 4")
        self.does_not_add_up()

    def test_a_message_under_two_ids(self):
        self.receive("m1 1", "m2 2", "m3 3", "m4 3")
        self.does_not_add_up()

    def test_an_order_without_its_row(self):
        self.run_sql("DELETE FROM acemq_outbox WHERE id = 'm2'")
        self.does_not_add_up()

    def test_a_row_that_was_never_published(self):
        self.run_sql("UPDATE acemq_outbox SET published_at = NULL WHERE id = 'm2'")
        self.does_not_add_up()

    def test_an_outage_that_was_charged(self):
        self.run_sql("UPDATE acemq_outbox SET attempts = 1 WHERE id = 'm2'")
        self.does_not_add_up()


if __name__ == "__main__":
    unittest.main()
