"""When snapshots begin: cron expressions in a time zone."""

from datetime import UTC, datetime
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from cronsim import CronSim, CronSimError

from touchstone.errors import DomainError

LONGEST: Final = 100  # characters


class ScheduleRefused(DomainError):
    """The schedule can't be read. field: cron or time_zone."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__("schedule_invalid", message)
        self.field = field


def next_time(cron: str, time_zone: str, *, after: datetime) -> datetime:
    """The first time after `after` that the expression names, in UTC.

    cron: five fields, as Debian's cron reads them: a time that a clock change skips comes right
    after it, one that it repeats comes once. A missed time is not made up for: only the next one
    after `after` counts.
    Raises ScheduleRefused, also for a date that never comes.
    """
    try:
        zone = ZoneInfo(time_zone)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        message = "Unknown time zone. Use a name such as Europe/Berlin, or UTC."
        raise ScheduleRefused("time_zone", message) from error
    if len(cron.split()) != 5 or len(cron) > LONGEST:
        raise ScheduleRefused("cron", "Use five fields: minute, hour, day, month, weekday.")
    try:
        result = next(CronSim(cron, after.astimezone(zone)))
    except (CronSimError, StopIteration) as error:
        raise ScheduleRefused("cron", f"Not a cron expression: {error}".rstrip(": ")) from error
    return result.astimezone(UTC)
