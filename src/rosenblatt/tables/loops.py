"""Delimited text, compiled: lines counted, numbers read, words told apart.

A number is read exactly: what is returned is the float nearest to the decimal number, by the
method of Eisel and Lemire. Where that cannot be sure (more than 19 digits, subnormal numbers), and
where a cell is anything but plain, the loops say so, and the cell is read in another way.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rosenblatt.data.compiled import loop, part_of_loops

if TYPE_CHECKING:
    from numpy.typing import NDArray

NEWLINE, RETURN, BLANK = 10, 13, 32
PLUS, MINUS, POINT, ZERO, NINE = 43, 45, 46, 48, 57
GOOD, NOT_PLAIN, FULL = 0, 1, 2
SKIPPED = -1
# Places are unsigned, so that reading a byte needs no test for a negative one.
ONE, START = np.uintp(1), np.uintp(0)
NOWHERE = np.uintp(np.iinfo(np.uintp).max)
ROOM = np.uint64(2**64 // 10)  # below, there is room for one more digit
LEAST_POWER, LARGEST_POWER = -342, 308
EXACT_POWERS = np.array([10.0**k for k in range(23)])
POWERS_OF_TWO = np.ldexp(1.0, np.arange(-1074, 972))


def _powers_of_five() -> NDArray[np.uint64]:
    """The first 128 bits of 5**q for each power q, in two halves."""
    rows = []
    for q in range(LEAST_POWER, LARGEST_POWER + 1):
        if q < 0:
            power = 5**-q
            bits = (power - 1).bit_length()
            wide = 2 ** (bits + 127 if q >= -27 else 2 * bits + 128) // power + 1
        else:
            wide = 5**q << 128
        wide >>= wide.bit_length() - 128
        rows.append((wide >> 64, wide & (2**64 - 1)))
    return np.array(rows, dtype=np.uint64)


POWERS_OF_FIVE = _powers_of_five()


class Layout(NamedTuple):
    """How a file is written, and what is to be made of its columns.

    `role[j]` is k for the k-th column of numbers, -2 - k for the k-th column of words, and -1 for
    one that is not asked for.
    """

    delimiter: int
    quote: int  # -1: there is none
    role: NDArray[np.int64]


class Words(NamedTuple):
    """The different words of the columns of a block: where each first begins, and how long it is.

    Row k of `slots` is the open hash table of column k: the number of a word plus one, and 0 where
    it is free.
    """

    slots: NDArray[np.int32]
    begins: NDArray[np.int64]
    lengths: NDArray[np.int64]
    counts: NDArray[np.int64]


@loop
def count_lines(data: NDArray[np.uint8]) -> Any:
    """How many lines end here, where the last one does, and all bytes joined by or."""
    lines = 0
    joined = np.uint8(0)
    for i in range(len(data)):
        lines += data[i] == NEWLINE
        joined |= data[i]
    last = len(data) - 1
    while last >= 0 and data[last] != NEWLINE:
        last -= 1
    return lines, last, joined


@part_of_loops
def wide_product(a: np.uint64, b: np.uint64) -> Any:
    """The upper and the lower half of the product of two numbers of 64 bits."""
    half, low = np.uint64(32), np.uint64(0xFFFFFFFF)
    a1, a0, b1, b0 = a >> half, a & low, b >> half, b & low
    lower, left, right = a0 * b0, a1 * b0, a0 * b1
    middle = (lower >> half) + (left & low) + (right & low)
    upper = a1 * b1 + (left >> half) + (right >> half) + (middle >> half)
    return upper, (middle << half) | (lower & low)


@part_of_loops
def nearest_float(digits: np.uint64, power: np.int64) -> Any:
    """The float nearest to digits * 10**power, and whether it is certain.

    The method of Eisel and Lemire: the digits times the first bits of 10**power nearly always
    tell how to round.
    """
    if digits == 0:
        return 0.0, True
    if power < LEAST_POWER or power > LARGEST_POWER:
        return 0.0, False
    one, top = np.uint64(1), np.uint64(63)
    shift = 0
    while not digits >> top:
        digits = digits << one
        shift += 1
    first = POWERS_OF_FIVE[power - LEAST_POWER, 0]
    upper, lower = wide_product(digits, first)
    if upper & np.uint64(0x1FF) == np.uint64(0x1FF):
        more, _ = wide_product(digits, POWERS_OF_FIVE[power - LEAST_POWER, 1])
        if more > ~lower:
            upper, lower = upper + one, lower - ~more - one
        else:
            lower += more
    if lower == ~np.uint64(0) and not -27 <= power <= 55:
        return 0.0, False
    leading = upper >> top
    mantissa = upper >> (leading + np.uint64(9))
    exponent = ((217706 * power) >> 16) + 63 + np.int64(leading) - shift + 1023
    if exponent <= 0:
        return 0.0, False
    halfway = lower <= one and -4 <= power <= 23 and mantissa & np.uint64(3) == one
    if halfway and mantissa << (leading + np.uint64(9)) == upper:
        mantissa &= ~one  # exactly between two floats: to the even one
    mantissa = (mantissa + (mantissa & one)) >> one
    if mantissa >> np.uint64(53):
        mantissa = mantissa >> one
        exponent += 1
    if exponent >= 2047:
        return 0.0, False
    return np.float64(mantissa) * POWERS_OF_TWO[exponent - 1], True


@part_of_loops
def is_digit(byte: int) -> bool:
    """Whether a byte is a decimal digit."""
    return ZERO <= byte <= NINE


@part_of_loops
def read_number(data: NDArray[np.uint8], place: np.uintp) -> Any:
    """The plain number that begins here: its value, where it ends, and whether there is one.

    None are codes such as 01234, and numbers that are not certain to be the nearest floats.
    """
    i = place
    negative = data[i] == MINUS
    if negative or data[i] == PLUS:
        i += ONE
    begin, digits, power = i, np.uint64(0), np.int64(0)
    if data[i] == ZERO and i == place and is_digit(data[i + ONE]):
        return 0.0, i, False
    while is_digit(data[i]) and digits < ROOM:
        digits = digits * np.uint64(10) + np.uint64(data[i] - ZERO)
        i += ONE
    n_digits = i - begin
    if data[i] == POINT:
        i += ONE
        point = i
        while is_digit(data[i]) and digits < ROOM:
            digits = digits * np.uint64(10) + np.uint64(data[i] - ZERO)
            i += ONE
        power = np.int64(point) - np.int64(i)
        n_digits += i - point
    if n_digits == 0:
        return 0.0, i, False
    if data[i] == 101 or data[i] == 69:
        more, i, good = read_exponent(data, i + ONE)
        if not good:
            return 0.0, i, False
        power += more
    value, good = 0.0, True
    if digits < np.uint64(1 << 53) and -22 <= power <= 22:  # both exact, so rounded once
        value = np.float64(digits)
        value = value / EXACT_POWERS[-power] if power < 0 else value * EXACT_POWERS[power]
    else:
        value, good = nearest_float(digits, power)
    return -value if negative else value, i, good


@part_of_loops
def read_exponent(data: NDArray[np.uint8], i: np.uintp) -> Any:
    """The whole number after an e: its value, where it ends, and whether there is one."""
    negative = data[i] == MINUS
    if negative or data[i] == PLUS:
        i += ONE
    begin, power = i, np.int64(0)
    while is_digit(data[i]) and power < 100_000:
        power = power * 10 + np.int64(data[i] - ZERO)
        i += ONE
    return -power if negative else power, i, i > begin


@part_of_loops
def is_white(byte: int) -> bool:
    """Whether a byte is white space."""
    return byte == BLANK or 9 <= byte <= 13


@part_of_loops
def find_cell(data: NDArray[np.uint8], place: np.uintp, layout: Layout) -> Any:
    """Where a cell begins and ends without white space and quotation marks, and what is after it.

    The last is nowhere if the cell is not plain: a mark or a line end in the midst of it.
    """
    begin, quote, delimiter = place, layout.quote, layout.delimiter
    while data[begin] == BLANK:
        begin += ONE
    quoted = data[begin] == quote
    if quoted and begin > place:
        return begin, begin, NOWHERE
    begin += np.uintp(quoted)
    i = begin
    while data[i] != NEWLINE and data[i] != quote and (quoted or data[i] != delimiter):
        if data[i] == 0 or (data[i] == RETURN and (quoted or data[i + ONE] != NEWLINE)):
            return begin, i, NOWHERE
        i += ONE
    end = i
    if quoted != (data[i] == quote):
        return begin, i, NOWHERE
    i += np.uintp(quoted)
    if data[i] == RETURN:
        i += ONE
    if data[i] != NEWLINE and data[i] != delimiter:
        return begin, end, NOWHERE
    while begin < end and is_white(data[begin]):
        begin += ONE
    while begin < end and is_white(data[end - ONE]):
        end -= ONE
    return begin, end, i


@loop
def is_marker(
    data: NDArray[np.uint8], begin: np.uintp, end: np.uintp, markers: NDArray[np.uint8]
) -> bool:
    """Whether these bytes, in either case, are one of the rows of `markers`, which end with 0."""
    length = end - begin
    if length >= np.uintp(markers.shape[1]):
        return False
    for row in range(markers.shape[0]):
        k = START
        while k < length:
            byte = np.int64(data[begin + k])
            if markers[row, k] != (byte + 32 if 65 <= byte <= 90 else byte):
                break
            k += ONE
        if k == length and markers[row, k] == 0:
            return True
    return False


@part_of_loops
def scan_number(
    data: NDArray[np.uint8], place: np.uintp, layout: Layout, markers: NDArray[np.uint8]
) -> Any:
    """A cell as a number: its value, what is after it (as of `find_cell`), and whether it is one.

    A marker of a missing number is one, too.
    """
    begin = place
    while data[begin] == BLANK:
        begin += ONE
    value, after, good = read_number(data, begin)
    if good and (data[after] == layout.delimiter or data[after] == NEWLINE):
        return value, after, True
    begin, end, after = find_cell(data, place, layout)
    if begin == end or is_marker(data, begin, end, markers):
        return np.nan, after, True
    value, found, good = read_number(data, begin)
    return value, after, good and found == end


@part_of_loops
def find_word(data: NDArray[np.uint8], begin: np.uintp, end: np.uintp, k: int, words: Words) -> Any:
    """The number of a word of column k, which is new if it was not seen yet; -1: no room."""
    mark, i, length = np.int64(2166136261), begin, np.int64(end - begin)
    while i < end:
        mark = ((mark ^ np.int64(data[i])) * 16777619) & 0xFFFFFFFF
        i += ONE
    last = words.slots.shape[1] - 1
    slot = (mark ^ (mark >> 15)) & last
    while words.slots[k, slot]:
        word = words.slots[k, slot] - 1
        if words.lengths[k, word] == length:
            first, i = np.uintp(words.begins[k, word]), START
            while i < end - begin and data[first + i] == data[begin + i]:
                i += ONE
            if i == end - begin:
                return word
        slot = (slot + 1) & last
    word = words.counts[k]
    if word == words.begins.shape[1]:
        return -1
    words.slots[k, slot] = word + 1
    words.begins[k, word], words.lengths[k, word] = np.int64(begin), length
    words.counts[k] += 1
    return word


@loop
def scan(
    data: NDArray[np.uint8],
    layout: Layout,
    markers: NDArray[np.uint8],
    numbers: NDArray[np.float64],
    codes: NDArray[np.int32],
    words: Words,
    odd: NDArray[np.bool_],
    first_row: int,
    n_rows: int,
) -> Any:
    """Read the lines of a block, the last of which has an end, too, into numbers and codes.

    These are for at most `n_rows` rows from the first on. `odd` tells in which columns of numbers
    some cell is neither a plain number nor the marker of a missing one. Returned are the number of
    rows found and how it went.
    """
    role, place, stop, row = layout.role, START, np.uintp(len(data)), first_row
    last = len(role) - 1
    while place < stop:
        if data[place] == NEWLINE or (data[place] == RETURN and data[place + ONE] == NEWLINE):
            place += ONE  # a blank line is no row
            continue
        if row == first_row + n_rows:
            return n_rows, NOT_PLAIN
        for j in range(last + 1):
            if role[j] >= 0:
                value, after, good = scan_number(data, place, layout, markers)
                numbers[role[j], row] = value
                if not good:
                    odd[role[j]] = True
            else:
                begin, end, after = find_cell(data, place, layout)
                if role[j] < SKIPPED and after != NOWHERE:
                    word = find_word(data, begin, end, -2 - role[j], words)
                    if word < 0:
                        return row - first_row, FULL
                    codes[-2 - role[j], row] = word
            if after == NOWHERE or (data[after] == NEWLINE) != (j == last):
                return row - first_row, NOT_PLAIN
            place = after + ONE
        row += 1
    return row - first_row, GOOD


@loop
def scale(
    values: NDArray[np.float64],
    fill: float,
    mean: float,
    deviation: float,
    out: NDArray[np.float64],
) -> None:
    """``(x - mean)/deviation`` of numbers; one that is missing, NaN, is taken as `fill`."""
    for i in range(len(out)):
        x = values[i]
        x = fill if x != x else x
        out[i] = (x - mean) / deviation


@loop
def scale_rows(
    values: NDArray[np.float64],
    rows: NDArray[np.intp],
    fill: float,
    mean: float,
    deviation: float,
    out: NDArray[np.float64],
) -> None:
    """The same of the numbers in these rows."""
    for i in range(len(out)):
        x = values[rows[i]]
        x = fill if x != x else x
        out[i] = (x - mean) / deviation
