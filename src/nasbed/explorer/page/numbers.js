// Numbers as readers of this field write them.

const PREFIXES = [
  [1e12, "T"],
  [1e9, "G"],
  [1e6, "M"],
  [1e3, "k"],
];
const DURATIONS = [
  [86400, "d"],
  [3600, "h"],
  [60, "min"],
  [1, "s"],
  [1e-3, "ms"],
];

/** A number with its digits in groups of three, or a dash for a missing one. */
export function exact(value) {
  if (!present(value)) return "–";
  return Number.isInteger(value) ? grouped(value) : rounded(value, 6);
}

/** Whether there is a value: NaN and null are missing. */
export function present(value) {
  return value !== null && value !== undefined && Number.isFinite(value);
}

/** A number in a few digits: 1.07 M, 0.0123. */
export function short(value, digits = 3) {
  if (!present(value)) return "–";
  const size = Math.abs(value);
  const prefix = size >= 1e4 ? PREFIXES.find(([factor]) => size >= factor) : undefined;
  if (prefix) return `${rounded(value / prefix[0], digits)} ${prefix[1]}`;
  return size !== 0 && size < 1e-4
    ? value.toExponential(digits - 1)
    : rounded(value, Math.max(digits, size >= 1000 ? 4 : 0));
}

/** A value with its unit: 91.37 %, 2.4 h. */
export function withUnit(value, unit) {
  if (!present(value)) return "–";
  if (unit === "%") return `${value.toFixed(2)} %`;
  if (unit === "s") return duration(value);
  return unit ? `${short(value, 4)} ${unit}` : short(value, 4);
}

/** A share in percent, never rounded up to all. */
export function percent(value) {
  if (!present(value)) return "–";
  return `${value > 99 && value < 100 ? Math.floor(100 * value) / 100 : rounded(value, 3)} %`;
}

/** A change with its sign: +1.24. */
export function signed(value, unit) {
  if (!present(value)) return "–";
  const digits = unit === "%" ? Math.abs(value).toFixed(2) : short(Math.abs(value), 3);
  return `${value < 0 ? "−" : "+"}${digits}`;
}

/** Seconds in the unit that suits them. */
export function duration(seconds) {
  if (!present(seconds)) return "–";
  const [factor, unit] = DURATIONS.find(([each]) => Math.abs(seconds) >= each) ?? DURATIONS.at(-1);
  return `${rounded(seconds / factor, 3)} ${unit}`;
}

/** "1 step", "2 steps". */
export function counted(count, noun) {
  return `${grouped(count)} ${noun}${count === 1 ? "" : "s"}`;
}

function rounded(value, digits) {
  return String(Number(value.toPrecision(digits))).replace("-", "−");
}

function grouped(value) {
  return String(value)
    .replace(/\B(?=(\d{3})+(?!\d))/g, "\u202f")
    .replace("-", "−");
}
