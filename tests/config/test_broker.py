"""A worker outlives its broker."""

import logging
import os
import signal
from contextlib import suppress

import pytest
import redis
from kombu import Message, Queue
from kombu.common import ignore_errors

from config.celery import PromptConnection

logger = logging.getLogger(__name__)


@pytest.mark.redis
def test_what_was_not_acknowledged_when_the_broker_went_ends_no_worker(own_redis_url: str) -> None:
    connection = PromptConnection(own_redis_url)
    got: list[Message] = []
    connection.Consumer([Queue("wakes")], on_message=got.append).consume()
    connection.Consumer([Queue("more")], channel=connection.channel()).consume()
    with connection.Producer() as producer:
        producer.publish("now", routing_key="wakes")
    while not got:
        connection.drain_events(timeout=5)
    with suppress(TimeoutError):  # both wait for the next one
        connection.drain_events(timeout=0.2)
    (message,) = got
    with redis.Redis.from_url(own_redis_url) as client:
        process: int = client.info("server")["process_id"]
    os.kill(process, signal.SIGKILL)
    # as Celery does when it has lost the connection
    connection.collect(socket_timeout=1)
    ignore_errors(connection, connection.close)
    message.ack_log_error(logger, connection.connection_errors)
    assert not message.acknowledged
