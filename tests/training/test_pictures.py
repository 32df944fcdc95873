"""Pictures of people: odd ones are read as one sees them, hostile ones are refused with a sentence."""

import io
import os
import struct
import zlib

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from mirada.catalogue import LANGUAGES, say
from mirada.training.pictures import PictureError, open_picture, squared

HEIGHT, WIDTH = 5, 7


@pytest.fixture
def colours():
    generator = torch.Generator().manual_seed(0)
    return torch.randint(0, 256, (3, HEIGHT, WIDTH), generator=generator, dtype=torch.uint8)


def image_of(pixels):
    return Image.fromarray(pixels.permute(1, 2, 0).numpy())


def saved(image, format, **options):
    file = io.BytesIO()
    image.save(file, format, **options)
    return file.getvalue()


def refused(source, **options):
    with pytest.raises(PictureError) as caught:
        open_picture(source, **options)
    for language in LANGUAGES:
        assert say(caught.value.key, language, **caught.value.values)
    return caught.value.key


@pytest.mark.parametrize(
    ("format", "options"), [("PNG", {}), ("BMP", {}), ("TIFF", {}), ("WEBP", {"lossless": True})]
)
def test_every_pixel_is_read(colours, format, options):
    picture = open_picture(saved(image_of(colours), format, **options))
    assert picture.pixels.dtype == torch.uint8
    assert picture.pixels.tolist() == colours.tolist()
    assert picture.notes == ()


def test_a_path_is_read_whatever_it_is_called(colours, tmp_path):
    for name in ("plain.png", "un gato 🐈 ñ.png", "no ending", "wrong.txt", "-v.png"):
        (tmp_path / name).write_bytes(saved(image_of(colours), "PNG"))
        assert open_picture(tmp_path / name).pixels.tolist() == colours.tolist()
        assert open_picture(str(tmp_path / name)).notes == ()


# Where the first row and the first column of what is stored are seen (EXIF 2.32, tag 0x0112).
SEEN = {
    1: lambda i, j: (i, j),
    2: lambda i, j: (i, WIDTH - 1 - j),
    3: lambda i, j: (HEIGHT - 1 - i, WIDTH - 1 - j),
    4: lambda i, j: (HEIGHT - 1 - i, j),
    5: lambda i, j: (j, i),
    6: lambda i, j: (j, HEIGHT - 1 - i),
    7: lambda i, j: (WIDTH - 1 - j, HEIGHT - 1 - i),
    8: lambda i, j: (WIDTH - 1 - j, i),
}


@pytest.mark.parametrize("orientation", SEEN)
@pytest.mark.parametrize("format", ["PNG", "WEBP", "TIFF"])
def test_a_picture_is_turned_as_the_camera_was_held(colours, format, orientation):
    exif = Image.Exif()
    exif[0x0112] = orientation
    options = {"exif": exif, **({"lossless": True} if format == "WEBP" else {})}
    picture = open_picture(saved(image_of(colours), format, **options))
    assert picture.pixels.shape[1:] == ((WIDTH, HEIGHT) if orientation > 4 else (HEIGHT, WIDTH))
    for i in range(HEIGHT):
        for j in range(WIDTH):
            row, column = SEEN[orientation](i, j)
            assert picture.pixels[:, row, column].tolist() == colours[:, i, j].tolist()
    assert picture.notes == (("rotated",) if orientation > 1 else ())


@pytest.mark.parametrize("orientation", [0, 9, 65535])
def test_an_orientation_that_there_is_not_turns_nothing(colours, orientation):
    exif = Image.Exif()
    exif[0x0112] = orientation
    picture = open_picture(saved(image_of(colours), "PNG", exif=exif))
    assert picture.pixels.tolist() == colours.tolist()
    assert picture.notes == ()


def test_what_can_be_seen_through_lies_on_white():
    image = Image.new("RGBA", (3, 1))
    image.putpixel((0, 0), (10, 20, 30, 255))
    image.putpixel((1, 0), (10, 20, 30, 0))
    image.putpixel((2, 0), (0, 0, 0, 51))  # a fifth of black
    picture = open_picture(saved(image, "PNG"))
    assert picture.pixels[:, 0].T.tolist() == [[10, 20, 30], [255, 255, 255], [204, 204, 204]]
    assert picture.notes == ("transparent",)


def test_a_palette_with_a_transparent_colour():
    image = Image.new("P", (2, 1))
    image.putpalette([9, 8, 7, 200, 100, 50])
    image.putpixel((1, 0), 1)
    for format in ("PNG", "GIF"):
        picture = open_picture(saved(image, format))
        assert picture.pixels[:, 0].T.tolist() == [[9, 8, 7], [200, 100, 50]], format
        assert picture.notes == (), format
        picture = open_picture(saved(image, format, transparency=1))
        assert picture.pixels[:, 0].T.tolist() == [[9, 8, 7], [255, 255, 255]], format
        assert picture.notes == ("transparent",), format


def test_a_colour_that_is_said_to_be_transparent(colours):
    grey = Image.new("L", (2, 1), 40)
    grey.putpixel((1, 0), 90)
    picture = open_picture(saved(grey, "PNG", transparency=90))
    assert picture.pixels[0].tolist() == [[40, 255]]
    assert picture.notes == ("grey", "transparent")
    told = tuple(colours[:, 0, 0].tolist())
    assert (
        open_picture(saved(image_of(colours), "PNG", transparency=told)).pixels[:, 0, 0].tolist() == [255] * 3
    )


def test_opaque_pictures_with_an_alpha_channel_have_no_note():
    assert open_picture(saved(Image.new("RGBA", (2, 3), (1, 2, 3, 255)), "PNG")).notes == ()
    assert open_picture(saved(Image.new("LA", (2, 3), (9, 255)), "PNG")).notes == ("grey",)


@pytest.mark.parametrize("format", ["PNG", "TIFF"])
def test_sixteen_bits_of_grey_become_eight(format):
    image = Image.new("I;16", (5, 1))
    wanted = [0, 1, 77, 128, 255]
    image.putdata([257 * value for value in wanted])
    picture = open_picture(saved(image, format))
    assert picture.pixels.tolist() == [[wanted]] * 3
    assert picture.notes == ("grey",)


def test_numbers_without_a_range_are_stretched():
    image = Image.new("F", (3, 1))
    image.putdata([-0.5, 0.0, 0.5])
    picture = open_picture(saved(image, "TIFF"))
    assert picture.pixels[0].tolist() == [[0, 128, 255]]
    assert picture.notes == ("grey", "stretched")
    even = open_picture(saved(Image.new("I", (3, 2), 7), "TIFF"))
    assert even.pixels.unique().tolist() == [0]
    image.putdata([0.0, float("inf"), 0.5])
    assert refused(saved(image, "TIFF")) == "picture.broken"


def test_one_bit_and_cmyk():
    image = Image.new("1", (2, 1))
    image.putpixel((1, 0), 1)
    assert open_picture(saved(image, "PNG")).pixels.tolist() == [[[0, 255]]] * 3
    picture = open_picture(saved(Image.new("CMYK", (16, 16), (0, 255, 255, 0)), "JPEG", quality=100))
    assert picture.pixels[:, 3, 5].tolist() == pytest.approx([254, 0, 0], abs=4)
    assert picture.notes == ()


@pytest.mark.parametrize("format", ["GIF", "WEBP", "PNG", "TIFF"])
def test_of_several_frames_the_first_is_taken(format):
    frames = [Image.new("RGB", (4, 3), colour) for colour in ("red", "lime", "blue")]
    options = {"lossless": True} if format == "WEBP" else {}
    picture = open_picture(saved(frames[0], format, save_all=True, append_images=frames[1:], **options))
    assert picture.pixels.amax((1, 2)).tolist() == [255, 0, 0]
    assert picture.pixels.amin((1, 2)).tolist() == [255, 0, 0]
    assert picture.notes == ("first_frame",)


# What is refused.


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def claims(width, height):
    """A PNG of a few bytes that says it is that large."""
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"IDAT", zlib.compress(b""))
        + chunk(b"IEND", b"")
    )


@pytest.mark.parametrize("size", [(7072, 7071), (10_000, 10_000), (30_000, 30_000), (2**31 - 1, 2**31 - 1)])
def test_a_bomb_is_refused_by_its_header(size):
    assert refused(claims(*size)) == "picture.bomb"


def test_up_to_fifty_million_pixels_a_header_is_believed():
    assert refused(claims(7071, 7071)) == "picture.broken"  # there is nothing behind it


def test_a_bomb_in_other_formats():
    small = Image.new("RGB", (2, 2))
    for format, place, form in (("GIF", 6, "<HH"), ("BMP", 18, "<ii")):
        data = bytearray(saved(small, format))
        struct.pack_into(form, data, place, 60_000, 60_000)
        assert refused(bytes(data)) == "picture.bomb", format


def test_a_file_over_twenty_megabytes_is_not_read(tmp_path):
    path = tmp_path / "large.png"
    with open(path, "wb") as file:
        file.truncate(20_000_001)
    assert refused(path) == "picture.large"
    assert refused(bytes(20_000_001)) == "picture.large"
    assert refused(bytes(20_000_000)) == "picture.unknown"


def test_no_picture_at_all(tmp_path):
    assert refused(b"") == "picture.empty"
    for data in (
        b"this is a text, called cat.png\n",
        b"\x00" * 100,
        b"<svg xmlns='http://www.w3.org/2000/svg'/>",
    ):
        assert refused(data) == "picture.unknown"
    assert refused(b"%PDF-1.7\n") == "picture.unknown"
    (tmp_path / "x.png").mkdir()
    assert refused(tmp_path / "x.png") == "picture.no_file"
    assert refused(tmp_path / "none.png") == "picture.unreadable"
    assert refused("a\0b.png") == "picture.unreadable"


def test_photographs_of_phones_that_are_not_read_are_called_by_their_name():
    for brand, key in ((b"heic", "phone"), (b"mif1", "phone"), (b"avif", "phone"), (b"isom", "unknown")):
        assert refused(b"\0\0\0\x18ftyp" + brand + bytes(99)) == f"picture.{key}", brand


@pytest.mark.skipif(os.name != "posix", reason="links and pipes of POSIX")
def test_links_in_a_circle_and_pipes_end_at_once(tmp_path):
    (tmp_path / "a.png").symlink_to(tmp_path / "b.png")
    (tmp_path / "b.png").symlink_to(tmp_path / "a.png")
    assert refused(tmp_path / "a.png") == "picture.unreadable"
    os.mkfifo(tmp_path / "pipe.png")
    assert refused(tmp_path / "pipe.png") == "picture.no_file"
    assert refused("/dev/zero") == "picture.no_file"


def test_formats_that_are_not_asked_for_are_not_opened():
    for format in ("PPM", "ICO", "TGA"):
        assert refused(saved(Image.new("RGB", (16, 16)), format)) == "picture.unknown", format


def test_the_name_is_in_the_sentence(tmp_path):
    with pytest.raises(PictureError, match=r"gato\.png"):
        open_picture(b"", name="gato.png")
    with pytest.raises(PictureError, match=r"perro\.png"):
        open_picture(tmp_path / "perro.png")


WHOLE = {
    "PNG": {},
    "JPEG": {},
    "WEBP": {"lossless": True},
    "GIF": {},
    "BMP": {},
    "TIFF": {},
}


@pytest.mark.parametrize("format", WHOLE)
def test_a_picture_cut_short_is_refused_wherever_it_is_cut(colours, format):
    large = image_of(colours).resize((61, 53), Image.Resampling.NEAREST)
    data = saved(large, format, **WHOLE[format])
    for share in (0.01, 0.1, 0.3, 0.5, 0.9):
        assert refused(data[: int(len(data) * share)]) in (
            "picture.broken",
            "picture.unknown",
            "picture.empty",
        )


@given(st.sampled_from(sorted(WHOLE)), st.integers(0, 10**6), st.binary(min_size=1, max_size=9))
def test_whatever_is_broken_in_it_nothing_else_comes_out(format, place, noise):
    data = bytearray(saved(Image.new("RGB", (13, 11), (1, 200, 30)), format, **WHOLE[format]))
    place %= len(data)
    data[place : place + len(noise)] = noise
    try:
        picture = open_picture(bytes(data))
    except PictureError:
        return
    assert picture.pixels.dtype == torch.uint8
    assert picture.pixels.shape[0] == 3


# As a square.


def test_the_middle_becomes_a_square():
    pixels = torch.arange(5 * 9).reshape(1, 5, 9).to(torch.uint8)
    assert squared(pixels, 5).tolist() == pixels[:, :, 2:7].tolist()
    assert squared(pixels.mT.contiguous(), 5).tolist() == pixels[:, :, 2:7].mT.tolist()


def test_a_finely_striped_picture_becomes_grey_when_it_becomes_small():
    stripes = torch.tensor([0, 255], dtype=torch.uint8).repeat(1, 128, 64)
    small = squared(stripes, 4)
    assert small.shape == (1, 4, 4)
    assert small.dtype == torch.uint8
    assert small.float().sub(127.5).abs().max() <= 2
    assert squared(torch.full((3, 1, 10_007), 9, dtype=torch.uint8), 8).unique().tolist() == [9]
