import type { Random } from "../random";

/* Building blocks of sounds. */

const TURN = 2 * Math.PI;

export const sineWave = (hertz: number, seconds: number) => Math.sin(TURN * hertz * seconds);

/** Frequency of a piano key; 69 is the A of 440 Hz. */
export const hertzOf = (key: number) => 440 * 2 ** ((key - 69) / 12);

/** Rises from 0 to 1 and falls back within `length` seconds, without a click at either end. */
export function envelope(seconds: number, length: number, attack: number, release: number): number {
  if (seconds < 0 || seconds > length) return 0;
  const up = attack > 0 ? Math.min(1, seconds / attack) : 1;
  const down = release > 0 ? Math.min(1, (length - seconds) / release) : 1;
  return Math.min(up, down);
}

/** Passes frequencies around one: a resonance of a throat, a whistle in the wind. */
export function resonator(rate: number): (input: number, hertz: number, width: number) => number {
  let [low, band] = [0, 0];
  return (input, hertz, width) => {
    const tuned = 2 * Math.sin((Math.PI * Math.min(hertz, rate / 6.5)) / rate);
    low += tuned * band;
    band += tuned * (input - low - Math.min(1.8, width / hertz) * band);
    return band;
  };
}

/** Noise between -1 and 1. */
export const noise = (random: Random) => () => random() * 2 - 1;

/** Limits loudness to 1; quiet parts hardly change. */
export const limit = (value: number) => Math.tanh(value);
