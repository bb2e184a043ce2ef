"""The two themes as data, and the contrast of their colours. Not the style sheet, which `panels` makes from them."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Theme:
    """Colours as `#rrggbb`. Surfaces first, then what stands on them, then code, then parts of the latency bar."""

    name: str
    chrome: str
    editor: str
    card: str
    raised: str
    hover: str
    line: str
    curline: str
    edge: str
    t1: str
    t2: str
    t3: str
    accent: str
    accentbg: str
    onacc: str
    ok: str
    okbg: str
    warn: str
    warnbg: str
    bad: str
    badbg: str
    sel: str
    ghost: str
    num: str
    comment: str
    keyword: str
    string: str
    number: str
    function: str
    type: str
    decorator: str
    self: str
    lat_app: str
    lat_line: str
    lat_server: str
    lat_screen: str
    lat_app2: str
    lat_line2: str
    lat_server2: str
    lat_screen2: str


DARK = Theme(
    name="dark",
    chrome="#131519",
    editor="#191c21",
    card="#22262c",
    raised="#2a2f36",
    hover="#2d333b",
    line="#2c3138",
    curline="#20242a",
    edge="#6f7884",
    t1="#e4e7eb",
    t2="#aab1bb",
    t3="#969ea9",
    accent="#5cc8b6",
    accentbg="#17312f",
    onacc="#08201c",
    ok="#7cc98c",
    okbg="#16301f",
    warn="#e5b567",
    warnbg="#33291a",
    bad="#f28b80",
    badbg="#3a2020",
    sel="#274a63",
    ghost="#8f98a5",
    num="#7d8590",
    comment="#7f9087",
    keyword="#bda7ef",
    string="#9fca8f",
    number="#e6ae7d",
    function="#86b8f5",
    type="#6fcfc4",
    decorator="#dca6cb",
    self="#d9a394",
    lat_app="#7f9be0",
    lat_line="#4fb3a4",
    lat_server="#c78bd0",
    lat_screen="#d7a35a",
    lat_app2="#5f75aa",
    lat_line2="#3b8279",
    lat_server2="#916898",
    lat_screen2="#9c7845",
)

LIGHT = Theme(
    name="light",
    chrome="#f1f3f5",
    editor="#ffffff",
    card="#ffffff",
    raised="#e9ecef",
    hover="#e2e6ea",
    line="#dadfe4",
    curline="#f4f6f8",
    edge="#7d8691",
    t1="#1b1f24",
    t2="#48515c",
    t3="#5f6874",
    accent="#0b7568",
    accentbg="#dff3ef",
    onacc="#ffffff",
    ok="#1e7237",
    okbg="#e3f5e7",
    warn="#855300",
    warnbg="#fdf1d8",
    bad="#b3261e",
    badbg="#fdeae8",
    sel="#cfe3f7",
    ghost="#66707c",
    num="#6b7480",
    comment="#5d7066",
    keyword="#6b3fc0",
    string="#2f6f2a",
    number="#9a4f0c",
    function="#1e5fb8",
    type="#0b7568",
    decorator="#9c3680",
    self="#a2452f",
    lat_app="#5b7bd0",
    lat_line="#1f9484",
    lat_server="#a35bb0",
    lat_screen="#b67a1c",
    lat_app2="#3c58a3",
    lat_line2="#13665b",
    lat_server2="#7a3f87",
    lat_screen2="#80550f",
)


def _luminance(colour: str) -> float:
    """WCAG 2.2, relative luminance."""
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """WCAG 2.2, contrast ratio, 1 to 21."""
    light, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)
