"""Which addresses are allowed: by the list as a text, and by where a name leads."""

import re

import pytest

from judgments.outgoing.rules import Origin, find_origin, may_connect, read_origins
from tests.judgments.outgoing.spellings import HOSTS

SHOP = "https://images.example.org"


def test_an_entry_is_scheme_host_and_port() -> None:
    read = read_origins([SHOP, " http://images.example.org:8080 ", "http://[2606:4700::1111]"])
    assert [str(origin) for origin in read] == [
        "https://images.example.org",
        "http://images.example.org:8080",
        "http://[2606:4700::1111]",
    ]
    assert [origin.port for origin in read] == [443, 8080, 80]
    assert all(origin.networks == () for origin in read)


def test_an_entry_may_say_which_private_networks_its_host_is_in() -> None:
    (origin,) = read_origins(["http://search.internal:9200=10.1.0.0/16+fd12::/16"])
    assert origin.authority == "search.internal:9200"
    assert [str(network) for network in origin.networks] == ["10.1.0.0/16", "fd12::/16"]


@pytest.mark.parametrize(
    "entry",
    [
        "images.example.org",
        "ftp://images.example.org",
        "https://Images.example.org",
        "https://*.example.org",
        "https://images.example.org/",
        "https://images.example.org?q",
        "https://images.example.org#a",
        "https://images.example.org.",
        "https://user@images.example.org",
        "https://images.example.org:0",
        "https://images.example.org:70000",
        "https://bücher.example",
        "http://127.1",
        "http://0x7f000001",
        "http://2130706433",
        "http://0177.0.0.1",
        "http://[0:0:0:0:0:0:0:1]",
        "http://a..b",
        "http://-a.example",
        "http://search.internal=",
        "http://search.internal=10.0.0.1/8",
        "http://search.internal=0.0.0.0/0",
        "http://search.internal=8.8.8.0/24",
        "http://search.internal=169.254.0.0/16",
        "http://search.internal=fe80::/10",
        "http://search.internal=::/0",
        "",
    ],
)
def test_any_other_entry_is_refused_and_quoted(entry: str) -> None:
    with pytest.raises(ValueError, match=re.escape(repr(entry))):
        read_origins([entry])


def test_a_host_and_port_are_named_once() -> None:
    with pytest.raises(ValueError, match="another entry"):
        read_origins(["http://search.internal:9200", "https://search.internal:9200=10.0.0.0/8"])


@pytest.mark.parametrize(
    ("url", "target"),
    [
        ("https://images.example.org", "/"),
        ("HTTPS://IMAGES.EXAMPLE.ORG/A.jpg", "/A.jpg"),
        ("https://images.example.org:443/a%20b.jpg?w=3&h=%C3%BC#top", "/a%20b.jpg?w=3&h=%C3%BC"),
        ("https://images.example.org?w=3", "/?w=3"),
        ("https://images.example.org/grün und.jpg", "/gr%C3%BCn%20und.jpg"),
        ("https://images.example.org/@a:b", "/@a:b"),
    ],
)
def test_a_url_is_split_into_an_allowed_origin_and_its_target(url: str, target: str) -> None:
    allowed = read_origins([SHOP])
    assert find_origin(url, allowed) == (allowed[0], target)


@pytest.mark.parametrize(
    "url",
    [
        "http://images.example.org/a",
        "https://images.example.org:8443/a",
        "https://images.example.org./a",
        "https://images.example.org@evil.example/a",
        "https://evil.example@images.example.org/a",
        "https://evil.example\\@images.example.org/a",
        "https://evil.example#@images.example.org/a",
        "https://evil.example/https://images.example.org",
        "https://images.example.org.evil.example/a",
        "https://evil-images.example.org/a",
        "https://ımages.example.org/a",
        "httpſ://images.example.org/a",
        "https://images。example.org/a",
        "https://images%2eexample.org/a",
        "https:images.example.org/a",
        "https:///images.example.org/a",
        "//images.example.org/a",
        "file:///etc/passwd",
        "gopher://images.example.org/a",
        "javascript:alert(1)",
        "https://images.example.org/a\r\nHost: evil.example",
        "https://images.example.org/\x00",
        " https://images.example.org/a",
        "https://images.example.org/" + "a" * 2_000,
        "",
    ],
)
def test_any_other_url_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        find_origin(url, read_origins([SHOP]))


def test_without_a_list_every_url_is_refused() -> None:
    with pytest.raises(ValueError, match="off"):
        find_origin(SHOP, ())


@pytest.mark.parametrize(
    "address",
    [
        *("0.0.0.0", "0.1.2.3", "10.0.0.1", "100.64.0.1", "127.0.0.1"),  # noqa: S104
        "100.100.100.200",
        *("127.255.255.255", "168.63.129.16", "169.254.169.254", "172.16.0.1", "192.0.0.192"),
        *("192.0.2.1", "192.88.99.1", "192.168.1.1", "198.18.0.1", "198.51.100.1", "203.0.113.1"),
        *("224.0.0.1", "239.255.255.250", "240.0.0.1", "255.255.255.255"),
        *("::", "::1", "::127.0.0.1", "::ffff:127.0.0.1", "::ffff:8.8.8.8", "64:ff9b::7f00:1"),
        *("64:ff9b::808:808", "64:ff9b:1::1", "100::1", "2001::1", "2001:db8::1", "2001:20::1"),
        *("2002:7f00:1::", "2002:808:808::1", "3fff::1", "fc00::1", "fd00:ec2::254", "fe80::1"),
        *("fe80::1%eth0", "fe80::1%1", "fec0::1", "ff02::1", "ff0e::1", "5f00::1", "4000::1"),
        *("2606:4700::1111%1", "localhost", "127.1", ""),
    ],
)
def test_no_address_that_is_not_public_is_connected_to(address: str) -> None:
    assert not may_connect(address, Origin("https", "images.example.org", 443))


@pytest.mark.parametrize("address", ["8.8.8.8", "93.184.215.14", "2606:4700::1111", "2a00::1"])
def test_public_addresses_are_connected_to(address: str) -> None:
    assert may_connect(address, Origin("https", "images.example.org", 443))


def test_where_networks_are_named_nothing_outside_them_is_connected_to() -> None:
    (origin,) = read_origins(["http://search.internal=10.1.0.0/16+127.0.0.0/8"])
    assert may_connect("10.1.2.3", origin)
    assert may_connect("127.0.0.1", origin)
    for outside in ("10.2.0.1", "8.8.8.8", "::1", "::ffff:10.1.2.3", "169.254.169.254"):
        assert not may_connect(outside, origin)


def test_metadata_addresses_are_refused_in_named_networks_too() -> None:
    (origin,) = read_origins(["http://search.internal=100.64.0.0/10+fc00::/7"])
    assert may_connect("100.64.0.1", origin)
    assert may_connect("fd00::1", origin)
    assert not may_connect("100.100.100.200", origin)
    assert not may_connect("fd00:ec2::254", origin)


@pytest.mark.parametrize("host", HOSTS)
def test_no_spelling_of_a_local_address_passes_for_a_host_on_the_list(host: str) -> None:
    """The usual form of the address is on the list; this spelling is another text."""
    allowed = read_origins([SHOP, "http://127.0.0.2=127.0.0.0/8"])
    with pytest.raises(ValueError, match=r"."):
        find_origin(f"http://{host}/latest/meta-data", allowed)
