import { type Random, randomFrom } from "../random";
import type { Sound, Synth } from "./encode";
import { envelope, limit, noise, resonator } from "./tones";

/* A voice-like tone that follows a text: one note a syllable, shaped by its vowel, with breaks at punctuation. */

export type SpeechWish = { text: string; voiceId: string; speed: number; liveliness: number; take: string };

const RATE = 24_000;
const SYLLABLE_SECONDS = 0.19;
/** Longest speech; longer texts are read faster, because a sandbox need not fill a disk. */
const MOST_SECONDS = 90;

/** The first two resonances of each vowel, in hertz. */
const VOWELS: Record<string, [number, number]> = {
  a: [750, 1200],
  e: [480, 1950],
  i: [300, 2250],
  o: [480, 850],
  u: [330, 760],
};
const HISSES = /[sfzcxhtkpß]/;

type Note = { start: number; length: number; vowel: [number, number]; hiss: number; lift: number };

/** Reads a text with a voice. */
export function speak(wish: SpeechWish): Sound {
  const random = randomFrom(`speech\n${wish.voiceId}\n${wish.take}\n${wish.text}`);
  const { notes, seconds } = score(wish, random);
  // A voice's id decides its pitch and the length of its throat.
  const voice = randomFrom(`voice\n${wish.voiceId}`);
  const pitch = 95 + voice() * 130;
  const throat = 0.9 + (pitch - 95) / 520 + voice() * 0.08;
  return {
    rate: RATE,
    samples: Math.round(seconds * RATE),
    synth: voiceOf(notes, { pitch, throat, liveliness: wish.liveliness, random }),
  };
}

function score({ text, speed }: SpeechWish, random: Random): { notes: Note[]; seconds: number } {
  const notes: Note[] = [];
  let at = 0.08;
  for (const [piece] of text.toLowerCase().matchAll(/\p{L}+|\p{N}|[.!?;:,\n]|\S/gu)) {
    if (/^[.!?\n]$/.test(piece)) at += 0.34;
    else if (/^[,;:]$/.test(piece)) at += 0.18;
    else {
      const syllables = piece.match(
        /[^aeiouyäöüáéíóúàèìòùâêîôû]*[aeiouyäöüáéíóúàèìòùâêîôû]+|[^aeiouy]+$/gu,
      ) ?? [piece];
      for (const [position, syllable] of syllables.entries()) {
        const length = SYLLABLE_SECONDS * (0.8 + random() * 0.4) * (syllable.length > 3 ? 1.15 : 1);
        const vowel = VOWELS[plain(syllable.at(-1) ?? "a")] ?? [560, 1500];
        const lift = (position === 0 ? 0.06 : 0) + (random() - 0.5) * 0.16;
        notes.push({ start: at, length, vowel, hiss: HISSES.test(syllable[0] ?? "") ? 0.05 : 0.015, lift });
        at += length;
      }
      at += 0.05;
    }
  }
  const whole = (at + 0.12) / speed;
  const pace = speed * Math.max(1, whole / MOST_SECONDS);
  const paced = notes.map((note) => ({ ...note, start: note.start / pace, length: note.length / pace }));
  return { notes: paced, seconds: (at + 0.12) / pace };
}

/** Removes the accent from a vowel. */
const plain = (letter: string) => letter.normalize("NFD")[0] ?? letter;

function voiceOf(
  notes: Note[],
  {
    pitch,
    throat,
    liveliness,
    random,
  }: { pitch: number; throat: number; liveliness: number; random: Random },
): Synth {
  const [first, second, third] = [resonator(RATE), resonator(RATE), resonator(RATE)];
  const breath = noise(random);
  let [phase, current, f1, f2] = [0, 0, 500, 1500];
  return (into, start) => {
    for (let index = 0; index < into.length; index++) {
      const seconds = (start + index) / RATE;
      while (current < notes.length - 1 && seconds >= (notes[current + 1]?.start ?? 0)) current++;
      const note = notes[current];
      const inside = note ? seconds - note.start : -1;
      const loud = note ? envelope(inside, note.length, 0.025, 0.05) : 0;
      const lift = 1 + (note?.lift ?? 0) * liveliness + 0.012 * Math.sin(2 * Math.PI * 5.1 * seconds);
      phase += (pitch * lift) / RATE;
      phase -= Math.floor(phase);
      // A falling sawtooth has the many overtones that a throat shapes.
      const source = (1 - 2 * phase) * 0.5 + breath() * 0.02;
      f1 += ((note?.vowel[0] ?? 500) * throat - f1) * 0.004;
      f2 += ((note?.vowel[1] ?? 1500) * throat - f2) * 0.004;
      const shaped =
        first(source, f1, 90) + 0.6 * second(source, f2, 120) + 0.25 * third(source, 2700 * throat, 200);
      const hissing = note && inside >= 0 && inside < 0.045 ? breath() * note.hiss : 0;
      into[index] = limit(0.55 * loud * shaped + hissing);
    }
  };
}
