import { inTurns } from "@/server/platform/time/turn";
import { findFamily } from "./family";
import type { Header, Tensor } from "./header";
import { licenseOf, recommendedWeightOf, triggerWordsOf, weightsTitle } from "./metadata";
import type { LoraNaming, LoraPair } from "./pair";
import { refuseFile } from "./rules";

export type LoraFacts = {
  naming: LoraNaming;
  tensors: number;
  /** Number of adapted modules. */
  modules: number;
  /** Inner dimensions that occur, in ascending order. */
  ranks: number[];
  /** Kinds of adapted modules, such as `to_q` or `img_attn_qkv`. */
  targetModules: string[];
  dtypes: string[];
  /** Base model that the LoRA was trained for; null if the file does not show one or contradicts itself. */
  baseModelFamily: string | null;
  triggerWords: string[];
  recommendedWeight: number | null;
  title: string | null;
  licenseName: string | null;
};

const MOST_TARGETS = 64;
/** Names that are read between two pauses. */
const PAUSE_NAMES = 256;

const KOHYA = /^(.+)\.lora_(down|up)\.weight$/;
const PEFT = /^(.+)\.lora_(?:embedding_)?([AB])(?:\.[\w-]+)??(?:\.weight)?$/;
const DIFFUSERS = /^(.+?)[._]lora(?:_linear_layer|\d)?\.(down|up)\.weight$/;

/**
 * Reads the facts of a LoRA from a checked header. Refuses `not_a_lora` if there is no pair of matrices, if a module has one
 * matrix without the other, or if the two do not multiply.
 */
export function loraFacts(header: Header): Promise<LoraFacts> {
  return inTurns(readFacts(header));
}

function* readFacts(header: Header): Generator<undefined, LoraFacts> {
  const pairs = yield* findPairs(header.tensors);
  const [first] = pairs;
  if (!first) refuseFile("not_a_lora", {}, "It has none.");
  return {
    naming: first.naming,
    tensors: header.tensors.size,
    modules: pairs.length,
    ranks: distinct(pairs.map(({ down }) => rankOf(down))).sort((a, b) => a - b),
    targetModules: yield* kindsOf(pairs),
    dtypes: distinct(pairs.map(({ down }) => down.dtype)).sort(),
    baseModelFamily: yield* findFamily(header.metadata, pairs),
    triggerWords: triggerWordsOf(header.metadata),
    recommendedWeight: recommendedWeightOf(header.metadata),
    title: weightsTitle(header.metadata),
    licenseName: licenseOf(header.metadata),
  };
}

function* findPairs(tensors: ReadonlyMap<string, Tensor>): Generator<undefined, LoraPair[]> {
  const halves = new Map<string, Partial<LoraPair> & { module: string; naming: LoraNaming; name: string }>();
  let seen = 0;
  for (const [name, tensor] of tensors) {
    if (++seen % PAUSE_NAMES === 0) yield;
    const half = readName(name);
    if (!half) continue;
    const { module, naming, side } = half;
    halves.set(module, { ...halves.get(module), module, naming, name, [side]: tensor });
  }
  return [...halves.values()].map(({ module, naming, name, down, up }) => {
    if (!down || !up) refuseFile("not_a_lora", { tensor: name }, "Its other half is missing.");
    if (!multiplies(down, up)) refuseFile("not_a_lora", { tensor: name }, "It does not fit its other half.");
    return { module, naming, down, up };
  });
}

function readName(name: string): { module: string; naming: LoraNaming; side: "down" | "up" } | null {
  if (!name.includes("lora")) return null;
  for (const [naming, pattern] of [
    ["kohya", KOHYA],
    ["peft", PEFT],
    ["diffusers", DIFFUSERS],
  ] as const) {
    const [, module, side] = pattern.exec(name) ?? [];
    if (module && side) return { module, naming, side: side === "down" || side === "A" ? "down" : "up" };
  }
  return null;
}

/** The inner dimension is first (down) and second (up) in matrices and convolutions, and one later in stacks of matrices. */
function multiplies(down: Tensor, up: Tensor): boolean {
  if (down.shape.length < 2 || up.shape.length < 2) return false;
  if (down.shape[0] === up.shape[1]) return true;
  return down.shape.length === 3 && up.shape.length === 3 && down.shape[1] === up.shape[2];
}

const rankOf = ({ shape }: Tensor): number => shape[0] ?? 0;

function* kindsOf(pairs: readonly LoraPair[]): Generator<undefined, string[]> {
  const kinds = new Set<string>();
  for (const [n, { module }] of pairs.entries()) {
    if (n % PAUSE_NAMES === 0) yield;
    kinds.add(kindOf(module));
  }
  return [...kinds].sort().slice(0, MOST_TARGETS);
}

/** Kind of a module: the last part of a dotted name that is no number, with numbers after it; else what follows the last number. */
function kindOf(module: string): string {
  const parts = module.split(".");
  if (parts.length === 1)
    return module.replace(/^lora_(unet|te\d?|transformer)_/, "").replace(/^.*_\d+_(?=\D)/, "");
  const last = parts.findLastIndex((part) => !/^\d+$/.test(part));
  return parts.slice(Math.max(last, 0)).join(".");
}

const distinct = <T>(values: T[]): T[] => [...new Set(values)];
