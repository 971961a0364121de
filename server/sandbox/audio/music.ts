import { pickOne, type Random, randomFrom } from "../random";
import type { Sound } from "./encode";
import { envelope, hertzOf, limit, sineWave } from "./tones";

/*
 * Composes music from a prompt: four repeated chords, a bass, a plucked figure above them, and a tune unless it is instrumental.
 */

export type MusicWish = { prompt: string; durationMs: number; instrumental: boolean; take: string };

const RATE = 32_000;
/** Root of a chord in semitones above the key, and whether the chord is minor. */
type Chord = readonly [root: number, isMinor: boolean];
type Progression = readonly [Chord, Chord, Chord, Chord];

// biome-ignore format: a progression a line
const PROGRESSIONS: readonly [Progression, ...Progression[]] = [
  [[0, false], [7, false], [9, true], [5, false]],
  [[0, true], [8, false], [3, false], [10, false]],
  [[0, false], [5, false], [9, true], [7, false]],
  [[0, true], [5, true], [8, false], [7, false]],
];
const FAST = /\b(fast|upbeat|dance|energetic|rock|techno|drive|happy|run|battle)/i;
const SLOW = /\b(slow|calm|ambient|sad|sleep|soft|gentle|lullaby|quiet)/i;

/** Composes the music of a prompt, exactly as long as requested. */
export function composeMusic(wish: MusicWish): Sound {
  const random = randomFrom(`music\n${wish.take}\n${wish.prompt}`);
  const seconds = wish.durationMs / 1000;
  const pace = FAST.test(wish.prompt) ? 128 : SLOW.test(wish.prompt) ? 66 : 96;
  const beat = 60 / (pace + Math.floor(random() * 12));
  const key = 45 + Math.floor(random() * 10);
  const chords = pickOne(random, PROGRESSIONS);
  const figure = Array.from({ length: 8 }, () => Math.floor(random() * 4));
  const tune = melody(random);
  return {
    rate: RATE,
    samples: Math.round(seconds * RATE),
    synth(into, start) {
      for (let index = 0; index < into.length; index++) {
        const at = (start + index) / RATE;
        const bar = Math.floor(at / (beat * 4));
        const inBar = at - bar * beat * 4;
        const [root, isMinor] = chords[bar % 4] ?? chords[0];
        const keys = [0, isMinor ? 3 : 4, 7, 12].map((step) => key + root + step);
        const pad = keys.reduce((sum, each) => sum + soft(hertzOf(each + 12), at), 0);
        const eighth = Math.floor(inBar / (beat / 2));
        const sinceEighth = inBar - eighth * (beat / 2);
        const plucked = hertzOf((keys[figure[eighth % 8] ?? 0] ?? key) + 24);
        const sinceBeat = inBar % beat;
        const bass = hertzOf(key + root - 12);
        const value =
          0.07 * pad * envelope(inBar, beat * 4, 0.12, 0.2) +
          0.2 * pluck(plucked, sinceEighth) +
          0.3 * sineWave(bass, at) * Math.exp(-2.2 * sinceBeat) * Math.min(1, sinceBeat * 300) +
          (wish.instrumental ? 0 : 0.16 * sung({ tune, keys, bar, inBar, beat, at }));
        into[index] = limit(value) * envelope(at, seconds, 0.02, Math.min(1.2, seconds / 4));
      }
    },
  };
}

/** A tone with a little of its octave, varying slowly. */
const soft = (hertz: number, at: number) =>
  sineWave(hertz, at) * (0.8 + 0.2 * Math.sin(at * 1.7 + hertz)) + 0.25 * sineWave(hertz * 2.003, at);

const pluck = (hertz: number, since: number) =>
  (sineWave(hertz, since) + 0.4 * sineWave(hertz * 2, since) + 0.15 * sineWave(hertz * 3, since)) *
  Math.exp(-7 * since) *
  Math.min(1, since * 400);

const melody = (random: Random) => Array.from({ length: 16 }, () => Math.floor(random() * 4));

/** A held tone with the vibrato of a voice, one a beat. */
function sung({
  tune,
  keys,
  bar,
  inBar,
  beat,
  at,
}: {
  tune: number[];
  keys: number[];
  bar: number;
  inBar: number;
  beat: number;
  at: number;
}): number {
  const position = Math.floor(inBar / beat);
  const since = inBar - position * beat;
  const hertz = hertzOf((keys[tune[(bar * 4 + position) % 16] ?? 0] ?? 60) + 12);
  const trembling = 0.35 * Math.sin(2 * Math.PI * 5.3 * at);
  const voice = Math.sin(2 * Math.PI * hertz * at + trembling) + 0.3 * sineWave(hertz * 2, at);
  return voice * envelope(since, beat, 0.08, 0.12);
}
