"""Letters of other alphabets, widths and styles that look like plain ones. Pure."""

from collections.abc import Callable
from unicodedata import normalize

_SAME_LOOK = str.maketrans(
    "аеосрхуіјѕԁԛԝһѵвгтпАВЕКМНОРСТХУІЈЅԌαινοκρυβετχΑΒΕΖΗΙΚΜΝΟΡΤΥΧᴀʙᴄᴅᴇɢʜɪᴊᴋʟᴍɴᴏᴘʀᴛᴜᴠᴡʏᴢıℓ",
    "aeocpxyijsdqwhvbrtnABEKMHOPCTXYIJSGaivokpubetxABEZHIKMNOPTYXabcdeghijklmnoprtuvwyzil",
)


def plain_letter(character: str) -> str:
    """Return the plain letter, digit or sign that a character looks like; itself without one."""
    look = normalize("NFKD", character.translate(_SAME_LOOK))
    is_one = len(look) == 1 or character.isalpha()  # "™" is no letter, and not one
    return look[0] if is_one and look[0].isascii() else character


class CharacterMap(dict[int, str]):
    """Map each character to one other, for `str.translate`: positions stay."""

    def __init__(self, function: Callable[[str], str]) -> None:
        super().__init__()
        self.function = function

    def __missing__(self, code: int) -> str:
        found = self.function(chr(code))
        if code < 0x10000:  # the rest would let a text fill the memory
            self[code] = found
        return found
