"""Fonts for names in scripts that Matplotlib's own font lacks."""

import functools
import logging

import matplotlib
from matplotlib import font_manager

# In this order, of what the system has: Chinese, Japanese and Korean; then fonts of many scripts.
FAMILIES = ("Noto Sans CJK SC", "Noto Sans CJK JP", "Noto Sans CJK KR", "Noto Sans CJK TC", "Source Han Sans SC", "Source Han Sans", "WenQuanYi Micro Hei", "WenQuanYi Zen Hei",
            "Droid Sans Fallback", "IPAexGothic", "IPAGothic", "NanumGothic", "Noto Sans Thai", "Noto Sans Devanagari", "FreeSans", "Unifont",
            "Microsoft YaHei", "SimHei", "Yu Gothic", "MS Gothic", "Malgun Gothic", "PingFang SC", "Hiragino Sans", "Apple SD Gothic Neo", "Arial Unicode MS")
UNKNOWN = "\N{REPLACEMENT CHARACTER}"


@functools.cache
def fallbacks():
    """Those of FAMILIES that are here. Matplotlib's list of fonts is a file of an earlier day: what was installed since is added."""
    known = {font.fname for font in font_manager.fontManager.ttflist}
    for path in font_manager.findSystemFonts():
        if path not in known:
            try:
                font_manager.fontManager.addfont(path)
            except Exception:  # a font that Matplotlib cannot read, whatever FreeType or its parser says
                pass
    here = {font.name for font in font_manager.fontManager.ttflist}
    return [name for name in FAMILIES if name in here]


@functools.cache
def characters_of(families):
    """The code points that text in these families has glyphs for."""
    fonts = (font_manager.findfont(font_manager.FontProperties(family=[name])) for name in families)
    return frozenset().union(*(font_manager.get_font(font).get_charmap() for font in fonts))


@functools.cache
def say_once(text):
    logging.getLogger("fedpp").warning(text)


def drawable(name):
    """The name with a sign for each character that no font has, about which Matplotlib would warn at each drawing; said once in a process."""
    there = characters_of(tuple(matplotlib.rcParams["font.family"]))
    absent = {c for c in name if ord(c) not in there}
    if any(c.isprintable() for c in absent):
        say_once(f"fedpp: figures show {UNKNOWN} for characters of names that no font here has: install one (Debian, Ubuntu: apt-get install fonts-noto-cjk; "
                 "for scripts other than Chinese, Japanese and Korean fonts-unifont)")
    return "".join(UNKNOWN if c in absent else c for c in name)
