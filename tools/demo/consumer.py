#!/usr/bin/python3
"""An independent consumer, in another language and with another client: none of its code is ours.

    consumer.py URL RECEIVED

Declares the exchange and a queue, then writes a line "message-id order-number" to the file RECEIVED for each message before it
acknowledges it. Connects again when the broker goes away. On SIGTERM it empties the queue and ends.
"""
import json
import signal
import sys
import time

import pika

EXCHANGE, QUEUE = "shop-events", "warehouse"
RECONNECT_SECONDS_MAX = 120


class Consumer:
    def __init__(self, url, received):
        self.parameters = pika.URLParameters(url)
        self.received = received
        self.stopping = False
        self.last_connected = time.monotonic()

    def stop(self, *_):
        self.stopping = True

    def run(self):
        while True:
            try:
                connection = pika.BlockingConnection(self.parameters)
                self.consume(connection)
                connection.close()
                return
            except (pika.exceptions.AMQPError, OSError):
                if time.monotonic() - self.last_connected > RECONNECT_SECONDS_MAX:
                    raise
                time.sleep(0.1)

    def consume(self, connection):
        channel = connection.channel()
        channel.exchange_declare(EXCHANGE, exchange_type="topic", durable=True)
        channel.queue_declare(QUEUE, durable=True)
        channel.queue_bind(QUEUE, EXCHANGE, "order.*")
        channel.basic_qos(prefetch_count=200)
        channel.basic_consume(QUEUE, self.on_message)
        print("consuming", flush=True)
        while not (self.stopping and channel.queue_declare(QUEUE, passive=True).method.message_count == 0):
            connection.process_data_events(time_limit=0.1)
            self.last_connected = time.monotonic()

    def on_message(self, channel, method, properties, body):
        self.received.write(f"{properties.message_id} {json.loads(body)['order']}\n")
        self.received.flush()
        channel.basic_ack(method.delivery_tag)


def main():
    url, path = sys.argv[1:]
    with open(path, "a", encoding="utf-8") as received:
        consumer = Consumer(url, received)
        signal.signal(signal.SIGTERM, consumer.stop)
        consumer.run()


if __name__ == "__main__":
    main()
