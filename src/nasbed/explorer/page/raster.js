// Points binned into pixels: each pixel has the mean colour of its points, and the more of them the more opaque it is.
// Half a million points take a few milliseconds on any processor, and no order of drawing hides any of them.

const STEPS = 16;
const LEVELS = 2048;

/** A picture of points, drawn by `draw` as often as the chosen points change. */
export class Raster {
  /** Width and height in device pixels, the radius of a point, and the opacity of one point. */
  constructor(width, height, radius, opacity) {
    this.width = width;
    this.height = height;
    this.kernel = discKernel(radius);
    this.margin = Math.ceil(radius) + 1;
    this.stride = width + 2 * this.margin;
    const size = this.stride * (height + 2 * this.margin);
    this.sums = new Float32Array(4 * size); // weight, red, green and blue of each pixel
    this.image = new ImageData(width, height);
    this.pixels = new Uint32Array(this.image.data.buffer);
    this.opacities = Uint8ClampedArray.from(
      { length: LEVELS },
      (_, level) => 255 * (1 - (1 - opacity) ** (level / STEPS)),
    );
  }

  /** The image of some rows. `x`, `y`: pixels; `colours`: the place of each row in `palette` (red, green, blue …). */
  draw(x, y, rows, colours, palette) {
    this.#gather(x, y, rows, colours, palette);
    return this.#composed();
  }

  #gather(x, y, rows, colours, palette) {
    const { sums, stride, margin, width, height, kernel } = this;
    sums.fill(0);
    const steps = kernel.map(({ dx, dy, share }) => [dx + dy * stride, share]);
    const count = steps.length;
    const offsets = Int32Array.from(steps, ([offset]) => offset);
    const shares = Float32Array.from(steps, ([, share]) => share);
    for (let at = 0; at < rows.length; at++) {
      const row = rows[at];
      const column = x[row] | 0;
      const line = y[row] | 0;
      if (!(x[row] >= 0 && column < width && y[row] >= 0 && line < height)) continue;
      const centre = column + margin + (line + margin) * stride;
      const colour = 3 * colours[row];
      const r = palette[colour];
      const g = palette[colour + 1];
      const b = palette[colour + 2];
      for (let step = 0; step < count; step++) {
        const place = 4 * (centre + offsets[step]);
        const share = shares[step];
        sums[place] += share;
        sums[place + 1] += share * r;
        sums[place + 2] += share * g;
        sums[place + 3] += share * b;
      }
    }
  }

  #composed() {
    const { sums, stride, margin, width, height, pixels, opacities } = this;
    for (let line = 0, target = 0; line < height; line++) {
      let place = 4 * (margin + (line + margin) * stride);
      for (let column = 0; column < width; column++, place += 4, target++) {
        const sum = sums[place];
        if (sum === 0) {
          pixels[target] = 0;
          continue;
        }
        const level = Math.min(LEVELS - 1, Math.ceil(sum * STEPS));
        const share = 1 / sum;
        pixels[target] =
          (opacities[level] << 24) |
          ((sums[place + 3] * share) << 16) |
          ((sums[place + 2] * share) << 8) |
          (sums[place + 1] * share);
      }
    }
    return this.image;
  }
}

/** The pixels that a disc covers, and how much of each. */
function discKernel(radius) {
  const reach = Math.ceil(radius);
  const kernel = [];
  for (let dy = -reach; dy <= reach; dy++) {
    for (let dx = -reach; dx <= reach; dx++) {
      const share = Math.min(1, Math.max(0, radius + 0.5 - Math.hypot(dx, dy)));
      if (share > 0.15) kernel.push({ dx, dy, share });
    }
  }
  return kernel;
}
