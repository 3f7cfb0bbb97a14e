"""Philox 4x32-10 and Box-Muller in numpy, written from the paper alone.

Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3", SC 2011, section 3.3: ten
rounds of two 32x32 -> 64 bit products with a Weyl sequence of keys. Nothing here was taken from the
Rust or WGSL code it checks.
"""

import numpy as np

MULTIPLIERS = (0xD2511F53, 0xCD9E8D57)
# Golden ratio and sqrt(3) - 1, as 32-bit fractions.
WEYL = (0x9E3779B9, 0xBB67AE85)
WORD = 0xFFFFFFFF

# Published with the reference implementation: counter, key, output.
KNOWN_ANSWERS = [
    ((0, 0, 0, 0), (0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
    ((WORD,) * 4, (WORD,) * 2, (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
    (
        (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
        (0xA4093822, 0x299F31D0),
        (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
    ),
]


def philox(counter, key):
    """Four words of one counter, in Python integers: slow and plain."""
    left0, right0, left1, right1 = counter[0], counter[1], counter[2], counter[3]
    for turn in range(10):
        key0 = (key[0] + turn * WEYL[0]) & WORD
        key1 = (key[1] + turn * WEYL[1]) & WORD
        high0, low0 = divmod(MULTIPLIERS[0] * left0, 1 << 32)
        high1, low1 = divmod(MULTIPLIERS[1] * left1, 1 << 32)
        left0, right0, left1, right1 = high1 ^ right0 ^ key0, low1, high0 ^ right1 ^ key1, low0
    return left0, right0, left1, right1


def check_known_answers():
    for counter, key, expected in KNOWN_ANSWERS:
        found = philox(counter, key)
        assert found == expected, (counter, key, found, expected)


def words(key, example, elements):
    """uint32 words of elements 0 .. elements of one example."""
    blocks = -(-elements // 4)
    seed = (key["seed"] & WORD, key["seed"] >> 32)
    example = (key["first_example"] + example) & WORD
    rows = [philox((block, example, key["draw"], key["parameter"]), seed) for block in range(blocks)]
    return np.array(rows, dtype=np.uint32).reshape(-1)[:elements]


def uniforms(bits):
    """float64, centres of 2^23 cells of (0, 1)."""
    return ((bits >> np.uint32(9)).astype(np.float64) + 0.5) / 2.0**23


def normals(key, example, elements):
    """float64 normals of elements 0 .. elements of one example."""
    bits = words(key, example, -(-elements // 4) * 4).reshape(-1, 2)
    radius = np.sqrt(-2.0 * np.log(uniforms(bits[:, 0])))
    quadrant = (bits[:, 1] >> np.uint32(30)).astype(np.float64)
    within = ((bits[:, 1] << np.uint32(2)).astype(np.int32) >> 8).astype(np.float64)
    angle = (quadrant + (within + 0.5) / 2.0**24) * (np.pi / 2)
    pairs = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)
    return pairs.reshape(-1)[:elements]
