/**
 * Integer arithmetic behind roots and non-integer powers. decimal.js has ln and exp but bounds the error of neither, and its ln
 * stops at 1,025 digits and takes 100 ms for 1,000.
 */

const BITS_PER_DIGIT = Math.log2(10);
/** Bits beyond the requested digits. The code below loses fewer than half of them. */
const GUARD_BITS = 96;

function bitLength(n: bigint): number {
  return n === 0n
    ? 0
    : n.toString(16).length * 4 - Math.clz32(Number.parseInt(n.toString(16).charAt(0), 16)) + 28;
}

/** The largest r with r^degree ≤ n, for n ≥ 0. */
export function integerRoot(n: bigint, degree: number): bigint {
  if (n < 2n) return n;
  const k = BigInt(degree);
  // Newton's method descends from above until it has passed the root.
  let root = 1n << BigInt(Math.ceil(bitLength(n) / degree));
  for (;;) {
    const next = ((k - 1n) * root + n / root ** (k - 1n)) / k;
    if (next >= root) return root;
    root = next;
  }
}

/** e^x for |x| < 1; x and the result are fixed-point numbers of `bits` fraction bits. */
function exponential(x: bigint, bits: number): bigint {
  const halvings = Math.ceil(Math.sqrt(bits) / 1.5);
  // Each squaring doubles the error and so costs one bit.
  const extra = halvings + 16;
  const fraction = BigInt(bits + extra);
  const small = (x << BigInt(extra)) >> BigInt(halvings);
  let sum = 1n << fraction;
  let term = sum;
  for (let n = 1n; term !== 0n && term !== -1n; n++) {
    term = ((term * small) >> fraction) / n;
    sum += term;
  }
  for (let i = 0; i < halvings; i++) sum = (sum * sum) >> fraction;
  return sum >> BigInt(extra);
}

/** ln x for x in [0.7, 1.5], fixed-point, by Halley's method: each step triples the correct bits. */
function logarithm(x: bigint, bits: number): bigint {
  let right = 48;
  let y = BigInt(Math.round(Math.log(Number(x >> BigInt(bits - 53)) / 2 ** 53) * 2 ** 53));
  let scale = 53;
  while (right < bits + 8) {
    right = Math.min(3 * right - 8, bits + 8);
    const next = right + 16;
    y <<= BigInt(next - scale);
    scale = next;
    const target = bits >= scale ? x >> BigInt(bits - scale) : x << BigInt(scale - bits);
    const reached = exponential(y, scale);
    y += ((2n * (target - reached)) << BigInt(scale)) / (target + reached);
  }
  return y >> BigInt(scale - bits);
}

function inverseHyperbolicTangent(inverse: bigint, bits: number): bigint {
  const square = inverse * inverse;
  let power = (1n << BigInt(bits)) / inverse;
  let sum = power;
  for (let n = 3n; power !== 0n; n += 2n) {
    power /= square;
    sum += power / n;
  }
  return sum;
}

let knownLn2 = { value: 0n, bits: 0 };
function ln2(bits: number): bigint {
  if (knownLn2.bits < bits) {
    const more = bits + 32;
    const value =
      18n * inverseHyperbolicTangent(26n, more) -
      2n * inverseHyperbolicTangent(4801n, more) +
      8n * inverseHyperbolicTangent(8749n, more);
    knownLn2 = { value, bits: more };
  }
  return knownLn2.value >> BigInt(knownLn2.bits - bits);
}

type Bounds =
  /** The power lies strictly between low × 10^exponent and high × 10^exponent. */
  | { kind: "between"; low: bigint; high: bigint; exponent: number }
  /** The power is not 1, but nearer to it than 10^-digits. */
  | { kind: "near_one" };

/** The number c × 10^e. */
type Scaled = { c: bigint; e: number };

/**
 * Bounds of (c × 10^e)^(d × 10^f) that agree to about `digits` significant digits. c > 0; the exponent, d × 10^f, is at most
 * 10,000 either way; the power is neither 1 nor further from it than 10^±30000.
 */
export function powerBounds({ c, e }: Scaled, { c: d, e: f }: Scaled, digits: number): Bounds {
  const bits = Math.ceil((digits + 2) * BITS_PER_DIGIT) + GUARD_BITS;
  const one = 1n << BigInt(bits);

  // c × 10^e = r × 2^k with r between 0.7 and 1.5
  const over = e >= 0 ? c * 10n ** BigInt(e) : c;
  const under = e >= 0 ? 1n : 10n ** BigInt(-e);
  const ratio = (power: number): bigint =>
    power > bits ? over / (under << BigInt(power - bits)) : (over << BigInt(bits - power)) / under;
  let k = bitLength(over) - bitLength(under);
  if (ratio(k) * 10n < one * 7n) k--;
  else if (ratio(k) * 10n > one * 14n) k++;
  const ln = logarithm(ratio(k), bits) + BigInt(k) * ln2(bits);

  // |ln| < 30,000 and |d × 10^f| ≤ 10,000: the error grows by 30 bits at most.
  const exponent = f >= 0 ? ln * d * 10n ** BigInt(f) : (ln * d) / 10n ** BigInt(-f);
  const magnitude = exponent < 0n ? -exponent : exponent;
  if (magnitude < one / 10n ** BigInt(digits)) return { kind: "near_one" };

  // e^exponent = 2^twos × e^rest
  let twos = exponent / ln2(bits);
  if (exponent < 0n) twos -= 1n;
  const factor = exponential(exponent - twos * ln2(bits), bits);
  const shift = Number(twos) - bits;

  const place = Math.floor((Number(twos) + 1) / BITS_PER_DIGIT) - digits;
  const scaled = place >= 0 ? factor : factor * 10n ** BigInt(-place);
  const moved = shift >= 0 ? scaled << BigInt(shift) : scaled >> BigInt(-shift);
  const value = place >= 0 ? moved / 10n ** BigInt(place) : moved;
  return { kind: "between", low: value - 2n, high: value + 3n, exponent: place };
}
