"""What a worker holds of Redis, made to outlive Redis."""

from typing import Any

from kombu.transport.redis import Channel
from redis.exceptions import ConnectionError as LostConnection


class PatientChannel(Channel):
    """Says that its connection is lost, which a worker expects and outlives.

    When Redis goes, Celery 5.7 first takes the connection's parameters away and then closes its
    channels, which would give back what was not acknowledged; and a task that ends later
    acknowledges on such a channel. kombu's then fails with an AttributeError, and that ends the
    worker. Nothing is lost with such a message: the sweep finds what is due.
    """

    def _connparams(self, asynchronous: bool = False) -> dict[str, Any]:
        if self.connection.client is None:
            raise LostConnection("The connection to the broker is gone.")
        result: dict[str, Any] = super()._connparams(asynchronous)  # type: ignore[misc]
        return result
