import { pickOne, type Random, randomFrom } from "../random";
import type { Sound, Synth } from "./encode";
import { envelope, limit, noise, resonator, sineWave } from "./tones";

/* Makes the sound effects that a prompt names, from shaped noise and sweeping tones. */

export type SoundWish = { prompt: string; durationMs: number; take: string };

const RATE = 32_000;

type Recipe = (seconds: number, random: Random) => Synth;

/** Recipes by the words that name them; the first match counts. */
const NAMED: [RegExp, Recipe][] = [
  [/\b(explo|boom|blast|thunder|crash|impact|hit|door|slam|drum|gun)/i, burst],
  [/\b(rain|sea|ocean|wave|water|river|wind|storm|forest|fire|crowd|breath)/i, weather],
  [/\b(laser|zap|whoosh|swoosh|sweep|power|jump|fly|rocket|shoot|siren)/i, sweep],
  [/\b(bell|coin|chime|ding|ping|beep|click|button|glass|notification|alarm)/i, bell],
];

/** Makes the sound of a prompt, exactly as long as requested. */
export function makeSound(wish: SoundWish): Sound {
  const random = randomFrom(`sound\n${wish.take}\n${wish.prompt}`);
  const named = NAMED.find(([words]) => words.test(wish.prompt))?.[1];
  const recipe = named ?? pickOne(random, [burst, weather, sweep, bell] as const);
  const seconds = wish.durationMs / 1000;
  return { rate: RATE, samples: Math.round(seconds * RATE), synth: recipe(seconds, random) };
}

/** Builds a synth that calls `at` with the time of each sample. */
const each =
  (at: (seconds: number) => number): Synth =>
  (into, start) => {
    for (let index = 0; index < into.length; index++) into[index] = limit(at((start + index) / RATE));
  };

function burst(seconds: number, random: Random): Synth {
  const [hiss, body] = [noise(random), resonator(RATE)];
  const [deep, fall] = [40 + random() * 40, 3 + random() * 4];
  return each((at) => {
    const gone = Math.exp((-fall * at) / Math.min(seconds, 2));
    const rumble = body(hiss(), 90 + 900 * gone, 300);
    return envelope(at, seconds, 0.003, 0.02) * gone * (0.8 * rumble + 0.7 * sineWave(deep + 30 * gone, at));
  });
}

function weather(seconds: number, random: Random): Synth {
  const [hiss, low, high] = [noise(random), resonator(RATE), resonator(RATE)];
  const [slow, tune] = [0.15 + random() * 0.35, 300 + random() * 500];
  return each((at) => {
    const swell = 0.6 + 0.4 * Math.sin(2 * Math.PI * slow * at);
    const white = hiss();
    const both = low(white, tune * (0.7 + 0.5 * swell), 260) + 0.3 * high(white, 3200, 2500);
    return envelope(at, seconds, Math.min(0.3, seconds / 4), Math.min(0.4, seconds / 4)) * swell * 0.7 * both;
  });
}

function sweep(seconds: number, random: Random): Synth {
  const [from, to] = random() < 0.5 ? [1800, 160] : [180, 1500];
  const [hiss, tuned] = [noise(random), resonator(RATE)];
  let phase = 0;
  return each((at) => {
    const hertz = from * (to / from) ** (at / seconds);
    phase += hertz / RATE;
    const tone = 2 * Math.abs(2 * (phase - Math.floor(phase + 0.5))) - 1;
    return (
      envelope(at, seconds, 0.01, Math.min(0.15, seconds / 3)) *
      (0.45 * tone + 0.5 * tuned(hiss(), hertz * 2, 400))
    );
  });
}

function bell(seconds: number, random: Random): Synth {
  const root = pickOne(random, [523, 659, 784, 1047] as const);
  const parts = [1, 2.01, 2.76, 4.07].map((times, index) => ({ times, fall: 2 + index * 2 + random() }));
  const every = Math.max(0.35, seconds / (1 + Math.floor(random() * 3)));
  return each((at) => {
    const since = at % every;
    const rung = parts.reduce(
      (sum, { times, fall }) => sum + sineWave(root * times, since) * Math.exp(-fall * since),
      0,
    );
    return envelope(at, seconds, 0.002, Math.min(0.05, seconds / 4)) * Math.min(1, since * 500) * 0.3 * rung;
  });
}
