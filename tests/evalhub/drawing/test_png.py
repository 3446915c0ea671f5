import struct

from evalhub.drawing.png import png_of

EMPTY = '<svg xmlns="http://www.w3.org/2000/svg" width="90" height="40">{}</svg>'
LETTERS = '<text x="5" y="25" font-family="Inter, system-ui, sans-serif">{}</text>'


def test_a_picture_is_a_png_of_twice_its_pixels():
    found = png_of(EMPTY.format(""))

    assert found.startswith(b"\x89PNG")
    assert struct.unpack(">II", found[16:24]) == (180, 80)


def test_letters_are_drawn_without_the_fonts_of_the_system():
    texts = ["", "Passed", "Gestürzt", "93 % → 88 %"]

    pictures = {png_of(EMPTY.format(LETTERS.format(text))) for text in texts}

    assert len(pictures) == len(texts)
