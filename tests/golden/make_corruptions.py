#!/usr/bin/env python3
"""Makes corruptions.safetensors: the corruptions of CIFAR-10-C by NumPy, SciPy, scikit-image, OpenCV, Pillow and
ImageMagick.

Usage: pip install -r requirements.txt && python3 make_corruptions.py   (motion blur and snow need ImageMagick 6)

One picture of 20 x 24, so that rows are not taken for columns, in five severities each. Written from the description
of the corruptions; the random numbers are those of philox.py in the order that core/src/data/corruption takes them,
which is thereby fixed. Warping is SciPy's, since OpenCV rounds coordinates to 1/32 pixel, and JPEG is Pillow's
without subsampling of colours, since that is what the library writes.

Not covered: frost, which needs photographs (a unit test does it by hand); pictures of other sizes; the published
arrays themselves, whose random numbers are not known.
"""

import io
import pathlib
import sys

import cv2
import numpy as np
import PIL.Image
import safetensors.numpy
import scipy.ndimage as ndi
import scipy.stats
import skimage.color
import skimage.filters
import wand.version
from wand.image import Image as WandImage

import philox

HEIGHT, WIDTH = 20, 24


def picture():
    """Colourful and smooth, with an edge, black, white and grey."""
    y, x = np.mgrid[0:HEIGHT, 0:WIDTH]
    waves = [np.sin(0.31 * x + 0.17 * y), np.cos(0.23 * x - 0.41 * y), np.sin(0.11 * x * y / 4)]
    rgb = np.stack([127.5 + 120 * wave for wave in waves], axis=-1)
    rgb[4:12, 6:14] = 255 - rgb[4:12, 6:14]
    rgb[0:3, 0:3], rgb[0:3, -3:], rgb[-3:, 0:3] = 0, 255, 90
    return rgb.round().clip(0, 255).astype(np.uint8)


class Dice:
    """Random numbers in order."""

    def __init__(self, name, severity):
        index = NAMES.index(name)
        self.key = dict(seed=0x1234_5678_9ABC, draw=severity, parameter=index, first_example=3)
        self.all = philox.words(self.key, 0, 16 * HEIGHT * WIDTH * 3)
        self.at = 0

    def words(self, count):
        self.at += count
        return self.all[self.at - count : self.at]

    def uniform(self, low, high, *shape):
        values = philox.uniforms(self.words(int(np.prod(shape))))
        return (low + (high - low) * values).reshape(shape)

    def below(self, count, *shape):
        words = self.words(int(np.prod(shape))).astype(np.uint64)
        return ((words * np.uint64(count)) >> np.uint64(32)).astype(int).reshape(shape)

    def fine_uniform(self, *shape):
        high, low = self.words(2 * int(np.prod(shape))).astype(np.uint64).reshape(-1, 2).T
        return ((high << np.uint64(32) | low) >> np.uint64(11)).astype(np.float64).reshape(shape) / 2.0**53

    def normals(self, *shape):
        assert self.at == 0
        count = int(np.prod(shape))
        self.at = -(-count // 4) * 4
        return philox.normals(self.key, 0, count).reshape(shape)


def gaussian(x, std, mode="nearest", truncate=4.0):
    axis = -1 if x.ndim == 3 else None
    return skimage.filters.gaussian(x, sigma=std, mode=mode, truncate=truncate, channel_axis=axis)


def gaussian_noise(x, c, dice):
    return x + c * dice.normals(*x.shape)


def speckle_noise(x, c, dice):
    return x + x * c * dice.normals(*x.shape)


def shot_noise(x, c, dice):
    return scipy.stats.poisson.ppf(dice.fine_uniform(*x.shape), x * c).clip(0) / c


def impulse_noise(x, c, dice):
    hit, salt = np.moveaxis(dice.uniform(0, 1, *x.shape, 2), -1, 0)
    return np.where(hit < c, (salt < 0.5).astype(float), x)


def gaussian_blur(x, c, _):
    return gaussian(x, c)


def glass_blur(x, c, dice):
    std, shift, turns = c
    x = np.uint8(gaussian(x, std) * 255)
    for _ in range(turns):
        for h in range(HEIGHT - shift, shift, -1):
            for w in range(WIDTH - shift, shift, -1):
                dx, dy = dice.below(2 * shift, 2) - shift
                # The authors' statement, with its aliasing.
                x[h, w], x[h + dy, w + dx] = x[h + dy, w + dx], x[h, w]
    return gaussian(x / 255.0, std)


def defocus_blur(x, c, _):
    radius, soft = c
    grid = np.arange(-8, 9)
    disk = (grid[:, None] ** 2 + grid[None] ** 2 <= radius**2).astype(np.float64)
    kernel = cv2.GaussianBlur(disk / disk.sum(), (3, 3), soft)
    return cv2.filter2D(x, -1, kernel)


def magick_motion(bytes_, radius, std, angle):
    with WandImage.from_array(bytes_, channel_map="RGB" if bytes_.ndim == 3 else "I") as image:
        image.motion_blur(radius=radius, sigma=std, angle=angle)
        found = np.array(image)[..., :3]
    return (found if bytes_.ndim == 3 else found[..., 0]).astype(np.float64) / 255


def motion_blur(x, c, dice):
    return magick_motion(np.uint8(x * 255 + 0.5), *c, float(dice.uniform(-45, 45, 1)[0])) + 1e-9


def zoomed(x, factor):
    h, w = x.shape[:2]
    part = lambda side: int(np.ceil(side / factor))
    top, left = (h - part(h)) // 2, (w - part(w)) // 2
    x = x[top : top + part(h), left : left + part(w)]
    x = ndi.zoom(x, (factor, factor, 1)[: x.ndim], order=1)
    top, left = (x.shape[0] - h) // 2, (x.shape[1] - w) // 2
    return x[top : top + h, left : left + w]


def zoom_blur(x, c, _):
    views = [zoomed(x, 1 + step / 100) for step in range(c + 1)]
    return np.mean([x, *views], axis=0)


def fractal(side, decay, dice):
    """Diamond-square on a torus."""
    m = np.zeros((side, side))
    step, wibble = side, 100.0
    roll = np.roll
    while step >= 2:
        half = step // 2
        noise = lambda a: a / 4 + wibble * wibble * dice.uniform(-1, 1, *a.shape)
        ul = m[::step, ::step]
        rows = ul + roll(ul, -1, 0)
        m[half::step, half::step] = noise(rows + roll(rows, -1, 1))
        dr, ul = m[half::step, half::step], m[::step, ::step]
        m[::step, half::step] = noise(dr + roll(dr, 1, 0) + ul + roll(ul, -1, 1))
        m[half::step, ::step] = noise(dr + roll(dr, 1, 1) + ul + roll(ul, -1, 0))
        step, wibble = half, wibble / decay
    m -= m.min()
    return m / m.max()


def fog(x, c, dice):
    weight, decay = c
    most = x.max()
    return (x + weight * fractal(32, decay, dice)[:HEIGHT, :WIDTH, None]) * most / (most + weight)


def snow(x, c, dice):
    mean, std, zoom, threshold, radius, trail, kept = c
    layer = zoomed(mean + std * dice.normals(HEIGHT, WIDTH), zoom)
    layer[layer < threshold] = 0
    layer = np.uint8(layer.clip(0, 1) * 255)
    layer = magick_motion(layer, radius, trail, float(dice.uniform(-135, -45, 1)[0]))[..., None]
    grey = (x @ [0.299, 0.587, 0.114])[..., None]
    x = kept * x + (1 - kept) * np.maximum(x, grey * 1.5 + 0.5)
    return x + layer + np.rot90(layer, 2)


def spatter(x, c, dice):
    mean, std, smooth, threshold, last, mud = c
    layer = gaussian(mean + std * dice.normals(HEIGHT, WIDTH), smooth)
    layer[layer < threshold] = 0
    if mud:
        m = gaussian((layer > threshold).astype(float), last)
        m[m < 0.8] = 0
        return x * (1 - m[..., None]) + m[..., None] * np.array([63, 42, 20]) / 255
    layer = (layer * 255).astype(np.uint8)
    far = cv2.distanceTransform(255 - cv2.Canny(layer, 50, 150), cv2.DIST_L2, 5)
    far = cv2.equalizeHist(cv2.blur(far.clip(max=20), (3, 3)).astype(np.uint8))
    far = cv2.filter2D(far, cv2.CV_8U, np.array([[-2, -1, 0], [-1, 1, 1], [0, 1, 2]]))
    m = layer * cv2.blur(far, (3, 3)).astype(np.float32)
    return x + last * (m / m.max())[..., None] * np.array([175, 238, 238]) / 255


def contrast(x, c, _):
    mean = x.mean((0, 1), keepdims=True)
    return (x - mean) * c + mean


def by_hsv(x, channel, change):
    hsv = skimage.color.rgb2hsv(x)
    hsv[..., channel] = change(hsv[..., channel]).clip(0, 1)
    return skimage.color.hsv2rgb(hsv)


def brightness(x, c, _):
    return by_hsv(x, 2, lambda v: v + c)


def saturate(x, c, _):
    return by_hsv(x, 1, lambda s: s * c[0] + c[1])


def pixelate(x, c, _):
    image = PIL.Image.fromarray(np.uint8(x * 255 + 0.5))
    small = image.resize((int(WIDTH * c), int(HEIGHT * c)), PIL.Image.BOX)
    return np.array(small.resize((WIDTH, HEIGHT), PIL.Image.BOX)) / 255 + 1e-9


def jpeg_compression(x, c, _):
    output = io.BytesIO()
    PIL.Image.fromarray(np.uint8(x * 255 + 0.5)).save(output, "JPEG", quality=c, subsampling=0)
    return np.array(PIL.Image.open(output)) / 255 + 1e-9


def elastic_transform(x, c, dice):
    strength, smooth, shift = c
    # The authors' coordinates: x and y of the centre are half the height and half the width.
    centre, size = np.array([HEIGHT // 2, WIDTH // 2], float), min(HEIGHT, WIDTH) // 3
    old = np.array([centre + size, centre + [size, -size], centre - size])
    new = old + dice.uniform(-shift, shift, 3, 2)
    matrix = cv2.invertAffineTransform(cv2.getAffineTransform(old.astype(np.float32), new.astype(np.float32)))
    ys, xs = np.mgrid[0:HEIGHT, 0:WIDTH].astype(float)
    from_x, from_y = (row[0] * xs + row[1] * ys + row[2] for row in matrix)
    warp = lambda x, y, xx, mode: np.stack(
        [ndi.map_coordinates(x[..., d], [y, xx], order=1, mode=mode) for d in range(3)], axis=-1
    )
    x = warp(x, from_y, from_x, "mirror")
    field = lambda: strength * gaussian(dice.uniform(-1, 1, HEIGHT, WIDTH), smooth, mode="reflect", truncate=3.0)
    dx, dy = field(), field()
    return warp(x, ys + dy, xs + dx, "reflect")


# In the order of Corruption::ALL, which chooses the random numbers.
PARAMETERS = dict(
    gaussian_noise=[0.04, 0.06, 0.08, 0.09, 0.10],
    shot_noise=[500, 250, 100, 75, 50],
    impulse_noise=[0.01, 0.02, 0.03, 0.05, 0.07],
    defocus_blur=[(0.3, 0.4), (0.4, 0.5), (0.5, 0.6), (1, 0.2), (1.5, 0.1)],
    glass_blur=[(0.05, 1, 1), (0.25, 1, 1), (0.4, 1, 1), (0.25, 1, 2), (0.4, 1, 2)],
    motion_blur=[(6, 1), (6, 1.5), (6, 2), (8, 2), (9, 2.5)],
    zoom_blur=[5, 10, 15, 20, 25],
    snow=[
        (0.1, 0.2, 1, 0.6, 8, 3, 0.95),
        (0.1, 0.2, 1, 0.5, 10, 4, 0.9),
        (0.15, 0.3, 1.75, 0.55, 10, 4, 0.9),
        (0.25, 0.3, 2.25, 0.6, 12, 6, 0.85),
        (0.3, 0.3, 1.25, 0.65, 14, 12, 0.8),
    ],
    frost=None,
    fog=[(0.2, 3), (0.5, 3), (0.75, 2.5), (1, 2), (1.5, 1.75)],
    brightness=[0.05, 0.1, 0.15, 0.2, 0.3],
    contrast=[0.75, 0.5, 0.4, 0.3, 0.15],
    elastic_transform=[(0, 0, 2.56), (1.6, 6.4, 2.24), (2.56, 1.92, 1.92), (3.2, 1.28, 1.6), (3.2, 0.96, 0.96)],
    pixelate=[0.95, 0.9, 0.85, 0.75, 0.65],
    jpeg_compression=[80, 65, 58, 50, 40],
    speckle_noise=[0.06, 0.1, 0.12, 0.16, 0.2],
    gaussian_blur=[0.4, 0.6, 0.7, 0.8, 1],
    spatter=[
        (0.62, 0.1, 0.7, 0.7, 0.5, 0),
        (0.65, 0.1, 0.8, 0.7, 0.5, 0),
        (0.65, 0.3, 1, 0.69, 0.5, 0),
        (0.65, 0.1, 0.7, 0.69, 0.6, 1),
        (0.65, 0.1, 0.5, 0.68, 0.6, 1),
    ],
    saturate=[(0.3, 0), (0.1, 0), (1.5, 0), (2, 0.1), (2.5, 0.2)],
)
NAMES = list(PARAMETERS)


def main():
    philox.check_known_answers()
    clean = picture()
    tensors = dict(clean=clean)
    for name, rows in PARAMETERS.items():
        for severity, c in enumerate(rows or [], 1):
            found = globals()[name](clean / 255.0, c, Dice(name, severity))
            tensors[f"{name}.{severity}"] = np.uint8(found.clip(0, 1) * 255)
    about = dict(
        python=sys.version.split()[0], numpy=np.__version__, scipy=scipy.__version__, skimage=skimage.__version__,
        opencv=cv2.__version__, pillow=PIL.__version__, imagemagick=wand.version.MAGICK_VERSION.split()[1],
    )
    path = pathlib.Path(__file__).with_name("corruptions.safetensors")
    safetensors.numpy.save_file(tensors, path, metadata=about)
    print(f"{path.name}: {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
