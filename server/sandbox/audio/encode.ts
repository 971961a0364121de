import { createMp3Encoder, createOggEncoder } from "wasm-media-encoders";
import { infoOffset, readFrame } from "@/server/compute/audio/mp3";

/* Encodes sound as a file; the same samples give the same bytes. */

export type Container = "ogg" | "mp3";
/** Fills `into` with the samples from `start` on; called for one piece after the other. */
export type Synth = (into: Float32Array, start: number) => void;
export type Sound = { rate: number; samples: number; synth: Synth };

const SERIAL = 1;
const BITRATE = 96;

/** Renders and encodes piece by piece; other work has its turn between two pieces. */
export async function encode({ rate, samples, synth }: Sound, container: Container): Promise<Buffer> {
  const encoder = container === "ogg" ? await oggEncoder(rate) : await mp3Encoder(rate);
  const pieces: Buffer[] = [];
  for (let start = 0; start < samples; start += rate) {
    const piece = new Float32Array(Math.min(rate, samples - start));
    synth(piece, start);
    // The encoder reuses the memory of its result.
    pieces.push(Buffer.from(encoder.encode([piece])));
    await new Promise((next) => setImmediate(next));
  }
  pieces.push(Buffer.from(encoder.finalize()));
  const whole = Buffer.concat(pieces);
  return container === "mp3" ? withInfo(whole, samples) : whole;
}

async function oggEncoder(rate: number) {
  const encoder = await createOggEncoder();
  encoder.configure({ sampleRate: rate, channels: 1, vbrQuality: 3, oggSerialNo: SERIAL });
  return encoder;
}

async function mp3Encoder(rate: number) {
  const encoder = await createMp3Encoder();
  encoder.configure({ sampleRate: rate, channels: 1, bitrate: BITRATE });
  return encoder;
}

/** Samples that an encoder of this kind puts before the sound. */
const DELAY = 576;

/**
 * Puts a first frame that says how many samples are before and behind the sound, so that players play exactly the sound. The
 * encoder leaves this frame to the writer of the file.
 */
function withInfo(file: Buffer, samples: number): Buffer {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  let frames = 0;
  let at = 0;
  for (let frame = readFrame(view, at); frame; frame = readFrame(view, at)) {
    frames++;
    at += frame.bytes;
  }
  const first = readFrame(view, 0);
  if (!first) return file;
  const info = Buffer.alloc(first.bytes);
  file.copy(info, 0, 0, 4);
  const offset = infoOffset(first);
  info.write("Info", offset, "latin1");
  info.writeUInt32BE(3, offset + 4); // the two counts that follow
  info.writeUInt32BE(frames, offset + 8);
  info.writeUInt32BE(file.byteLength + info.byteLength, offset + 12);
  const lame = offset + 16;
  info.write("LAME3.100", lame, "latin1");
  info[lame + 9] = 1; // constant bit rate
  info[lame + 20] = BITRATE;
  const padding = frames * first.samples - samples - DELAY;
  info.writeUIntBE((DELAY << 12) | padding, lame + 21, 3);
  info.writeUInt32BE(file.byteLength + info.byteLength, lame + 28);
  info.writeUInt16BE(crc16(file), lame + 32);
  info.writeUInt16BE(crc16(info.subarray(0, lame + 34)), lame + 34);
  return Buffer.concat([info, file]);
}

function crc16(bytes: Uint8Array): number {
  let sum = 0;
  for (const byte of bytes) {
    sum ^= byte;
    for (let bit = 0; bit < 8; bit++) sum = sum & 1 ? (sum >>> 1) ^ 0xa001 : sum >>> 1;
  }
  return sum;
}
