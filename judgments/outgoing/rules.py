"""Which addresses the server may ask: an administrator's list, and what is never on it."""

import ipaddress
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
from typing import Final
from urllib.parse import quote

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

LONGEST_URL: Final = 2_000
DEFAULT_PORTS: Final = {"http": 80, "https": 443, "redis": 6379, "rediss": 6379}
HTTP: Final = ("http", "https")
REDIS: Final = ("redis", "rediss")
# the client sets these
RESERVED_HEADERS: Final = frozenset(
    {
        *("accept-encoding", "connection", "content-length", "cookie", "expect", "host"),
        *("proxy-authorization", "te", "trailer", "transfer-encoding", "upgrade"),
    }
)

_PARTS: Final = re.compile(
    r"(?P<scheme>https?|rediss?)://(?P<host>[a-z0-9.-]+|\[[0-9a-f:.]+\])(?::(?P<port>[0-9]{1,5}))?"
    r"(?P<target>[/?][^#]*)?(?:#.*)?",
    re.IGNORECASE | re.ASCII,
)
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f\\]")
_LABEL: Final = r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
# the last label of a name begins with a letter: `0x7f.1` and `2130706433` are addresses
_NAME: Final = re.compile(rf"(?:{_LABEL}\.)*(?=[a-z]){_LABEL}")
_VISIBLE: Final = "".join(map(chr, range(0x21, 0x7F)))

# What an entry may name: loopback, private networks, carrier NAT. Link-local never.
_LOCAL: Final = tuple(
    map(
        ipaddress.ip_network,
        (
            *("127.0.0.0/8", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10"),
            *("::1/128", "fc00::/7"),
        ),
    )
)
# `is_global` has changed with versions of Python, and holds for addresses that lead to others:
# 6to4 and its relays, Teredo, NAT64 (outside of 2000::/3), multicast.
_UNICAST: Final = ipaddress.ip_network("2000::/3")
_NOT_PUBLIC: Final = tuple(
    map(
        ipaddress.ip_network,
        (
            *("0.0.0.0/8", "192.0.0.0/24", "192.88.99.0/24", "198.18.0.0/15", "224.0.0.0/3"),
            *("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"),
        ),
    )
)
# Where clouds tell a machine its secrets; some of them look private or public.
_METADATA: Final = frozenset(
    map(
        ipaddress.ip_address,
        (
            *("169.254.169.254", "168.63.129.16", "100.100.100.200", "192.0.0.192"),
            *("fd00:ec2::254", "fd20:ce::254"),
        ),
    )
)


@dataclass(frozen=True)
class Origin:
    """Scheme, host and port that may be asked.

    host: lower-case ASCII; of an IPv6 address without brackets. networks: where all addresses of
    the host must be; with none, each must be public.
    """

    scheme: str
    host: str
    port: int
    networks: tuple[Network, ...] = ()

    @property
    def authority(self) -> str:
        """The value of a Host header."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == DEFAULT_PORTS[self.scheme] else f"{host}:{self.port}"

    def __str__(self) -> str:
        return f"{self.scheme}://{self.authority}"


def read_origins(entries: Iterable[str]) -> tuple[Origin, ...]:
    """The origins of an administrator's list, e.g. `https://images.example.org` or
    `http://search.internal:9200=10.0.0.0/8+fd00::/8`.

    Raises ValueError, which quotes the entry, for any other form, for networks that are neither
    loopback nor private, and for a host and port that are named twice.
    """
    origins: dict[tuple[str, int], Origin] = {}
    for entry in map(str.strip, entries):
        origin = _read_origin(entry)
        if (origin.host, origin.port) in origins:
            raise ValueError(f"{entry!r} names a host and port that another entry names")
        origins[origin.host, origin.port] = origin
    return tuple(origins.values())


def _read_origin(entry: str) -> Origin:
    url, separator, networks = entry.partition("=")
    match = _PARTS.fullmatch(url)
    if not match or match["target"] or "#" in url or url != url.lower():
        raise ValueError(
            f"{entry!r} is not scheme, host and port, in lower case: "
            "https://images.example.org or http://search.internal:9200=10.0.0.0/8"
        )
    origin = _origin_of(match)
    if not _is_plain_host(origin.host):
        raise ValueError(f"{entry!r} has no host name or address in its usual form")
    if not 0 < origin.port < 65_536:
        raise ValueError(f"{entry!r} has no port from 1 to 65535")
    named = tuple(_read_network(entry, name) for name in networks.split("+") if separator)
    return Origin(origin.scheme, origin.host, origin.port, named)


def _read_network(entry: str, name: str) -> Network:
    try:
        network = ipaddress.ip_network(name)
    except ValueError as error:
        raise ValueError(f"{entry!r}: {error}") from error
    same = (local for local in _LOCAL if local.version == network.version)
    if not any(network.subnet_of(local) for local in same):  # type: ignore[arg-type]
        raise ValueError(f"{entry!r}: {name} is not part of a loopback or private network")
    return network


def _is_plain_host(host: str) -> bool:
    """A host name whose last label is not a number, or an address as programs write it."""
    if _NAME.fullmatch(host):
        return len(host) <= 253
    try:
        return str(ipaddress.ip_address(host)) == host
    except ValueError:
        return False


def _origin_of(match: re.Match[str]) -> Origin:
    scheme = match["scheme"].lower()
    port = int(match["port"]) if match["port"] else DEFAULT_PORTS[scheme]
    return Origin(scheme, match["host"].lower().strip("[]"), port)


def find_origin(
    url: str, allowed: Sequence[Origin], *, schemes: Sequence[str] = HTTP
) -> tuple[Origin, str]:
    """The allowed origin that the URL belongs to, and the target that is asked of it.

    Hosts are compared as texts: another spelling of an allowed host is not allowed. Characters
    beyond ASCII, and spaces, are encoded in the target; what follows `#` is left out.
    Raises ValueError with the reason.
    """
    if len(url) > LONGEST_URL:
        raise ValueError(f"the URL is longer than {LONGEST_URL} characters")
    match = None if _CONTROL.search(url) else _PARTS.fullmatch(url)
    if not match or match["scheme"].lower() not in schemes:
        raise ValueError(f"not a URL of {' or '.join(schemes)} with a plain host name or address")
    asked = _origin_of(match)
    for origin in allowed:
        if (origin.scheme, origin.host, origin.port) == (asked.scheme, asked.host, asked.port):
            target = match["target"] or "/"
            return origin, quote(target if target[0] == "/" else f"/{target}", safe=_VISIBLE)
    raise ValueError(
        f"{asked} is not on the list of allowed hosts" if allowed else "outgoing requests are off"
    )


def may_connect(address: str, origin: Origin) -> bool:
    """Whether a connection for the origin may go to this address, which its name resolved to."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return False
    if parsed in _METADATA or "%" in address:
        return False
    if origin.networks:
        return any(parsed in network for network in origin.networks)
    return _is_public(parsed)


def _is_public(address: Address) -> bool:
    if address.version == 6 and address not in _UNICAST:
        return False
    return address.is_global and not any(address in network for network in _NOT_PUBLIC)
