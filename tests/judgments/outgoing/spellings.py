"""Ways to write loopback, private, link-local and metadata addresses in a URL."""

from typing import Final

HOSTS: Final = (
    # loopback: usual, short, decimal, octal, hexadecimal, mixed
    *("127.0.0.1", "127.1", "127.0.1", "127.127.127.127", "2130706433", "017700000001"),
    *("0177.0.0.1", "0177.0.0.01", "00000177.0.0.1", "0x7f000001", "0x7f.0.0.1", "0x7f.1"),
    *("0x7f.0x0.0x0.0x1", "0177.0x0.0.1", "127.0.0.1.", "0", "0.0.0.0", "0x0", "00.0.0"),  # noqa: S104
    *("4294967295", "localhost", "localhost.", "LOCALHOST", "localhost.localdomain"),
    # digits of other scripts, and dots
    *("①②⑦.⓪.⓪.①", "１２７.0.0.1", "127。0。0。1", "127．0．0．1", "١٢٧.0.0.1"),
    *("ⓛⓞⓒⓐⓛⓗⓞⓢⓣ", "loc%61lhost", "127%2e0%2e0%2e1", "%31%32%37.0.0.1"),
    # IPv6: usual, long, mapped, compatible, NAT64, 6to4, with a zone
    *("[::1]", "[0:0:0:0:0:0:0:1]", "[0000::1]", "[::]", "[::127.0.0.1]", "[::ffff:127.0.0.1]"),
    *("[::ffff:7f00:1]", "[0:0:0:0:0:ffff:127.0.0.1]", "[64:ff9b::127.0.0.1]", "[64:ff9b::7f00:1]"),
    *("[2002:7f00:1::]", "[fe80::1]", "[fe80::1%25eth0]", "[fe80::1%eth0]", "[::1%25lo]"),
    # names that others point at local addresses
    *("127.0.0.1.nip.io", "localtest.me"),
    # userinfo and other parts that parsers take differently
    *("images.example.org@127.0.0.1", "images.example.org:80@127.0.0.1", "127.0.0.1#@a"),
    *("127.0.0.1\\@images.example.org", "images.example.org\\.127.0.0.1", "127.0.0.1:80:443"),
    # private networks
    *("10.0.0.1", "10.1", "167772161", "012.0.0.1", "172.16.0.1", "192.168.0.1", "192.168.257"),
    *("3232235521", "[fd00::1]", "[::ffff:10.0.0.1]"),
    # where clouds tell their secrets
    *("169.254.169.254", "169.254.43518", "2852039166", "0251.0376.0251.0376", "0xa9fea9fe"),
    *("0xa9.0xfe.0xa9.0xfe", "025177524776", "[::ffff:169.254.169.254]", "[64:ff9b::a9fe:a9fe]"),
    *("[fd00:ec2::254]", "100.100.100.200", "168.63.129.16", "192.0.0.192"),
    *("metadata.google.internal", "169.254.169.254.nip.io", "instance-data"),
)
assert len(set(HOSTS)) == len(HOSTS) >= 60
