import type { LoraFacts } from "@/server/compute/safetensors";
import { type FamilyName, familyOfHubId, familyOfWord } from "@/server/contract/model-families";
import { type FrozenSource, type ModelSource, SourceFault, type WeightsPreview } from "./define";
import { sourceHealth } from "./health-of";
import { type HubClient, type HubFacts, type HubFile, openHub } from "./hub-api";
import { isCommit, readHubQuery } from "./hub-query";
import { type ModelCard, readModelCard } from "./model-card";
import { readWeightsHeader } from "./weights-header";

const MOST_CARD_BYTES = 200_000;
const MOST_WORDS = 64;
const MOST_WORD_LENGTH = 64;

/** The Hugging Face Hub: repositories of files, each commit of which never changes. */
export const huggingface: ModelSource = {
  kind: "huggingface",

  read: (query, { hub }) => readHubQuery(query, hub.baseUrl),

  async preview(source, io) {
    const hub = openHub(io);
    const facts = await hub.facts(source.ref, source.revision ?? "main");
    const warnings: string[] = [];
    const { files, isWhole } = await hub.files(facts.repo, facts.commit);
    if (!isWhole) warnings.push("The repository has more files than could be listed.");
    const weights = weightsAmong(files, isWhole && !source.filePath);
    const [only] = weights;
    const selected = source.filePath
      ? await findFile(hub, facts, source.filePath, files)
      : weights.length === 1 && isWhole && only
        ? only
        : null;
    if (!selected) warnings.push("The repository has several files that match. Name the one to use.");
    if (!facts.isOpen) warnings.push(CLOSED);
    if (facts.repo.toLowerCase() !== source.ref.toLowerCase())
      warnings.push(`The repository was renamed to ${facts.repo}.`);
    const hasCard = !isWhole || files.some(({ path }) => path === "README.md");
    const card = hasCard ? await cardOf(hub, facts) : null;
    const fileFacts = selected ? (await headerOf(hub, facts, selected)).facts : null;
    if (selected && !fileFacts) warnings.push("The file's header is too long to be checked remotely.");
    return {
      source: { ...source, ref: facts.repo, filePath: selected?.path ?? null },
      revision: facts.commit,
      files: weights.map(({ path, byteLength, sha256 }) => ({ path, byteLength, sha256 })),
      selectedFile: selected?.path ?? null,
      baseModelFamily: familyFrom(card, fileFacts, warnings),
      displayName: (fileFacts?.title ?? facts.repo.split("/")[1] ?? null)?.slice(0, 255) ?? null,
      recommendedWeight: fileFacts?.recommendedWeight ?? null,
      triggerWords: wordsFrom(card, fileFacts, warnings),
      ...licenseFrom(hub, facts, card, fileFacts),
      warnings,
    } satisfies WeightsPreview;
  },

  async freeze(source, io): Promise<FrozenSource> {
    const hub = openHub(io);
    const facts = await hub.facts(source.ref, source.revision ?? "main");
    const named = { ...source, ref: facts.repo };
    // Without a file, the reference names no weights.
    if (!source.filePath)
      return { source: named, isFrozen: false, sha256: null, byteLength: null, url: null };
    if (!facts.isOpen) throw new SourceFault("no_access", CLOSED);
    const file = await findFile(hub, facts, source.filePath);
    const { byteLength } = await headerOf(hub, facts, file);
    return {
      source: { ...named, revision: facts.commit },
      isFrozen: true,
      sha256: file.sha256,
      byteLength,
      url: hub.urlOf(facts.repo, facts.commit, file.path),
    };
  },

  async health({ source, isFrozen, sha256, byteLength }, io) {
    const { ref, revision, filePath } = source;
    try {
      const hub = openHub(io);
      if (!isFrozen || !revision || !isCommit(revision) || !filePath) {
        const { isOpen } = await hub.facts(ref, revision ?? "main");
        return isOpen ? HEALTHY : { status: "degraded", detail: CLOSED };
      }
      const file = await findFile(hub, { repo: ref, commit: revision }, filePath);
      const isSame =
        (sha256 === null || file.sha256 === null || file.sha256 === sha256) &&
        (byteLength === null || file.byteLength === null || file.byteLength === byteLength);
      if (!isSame) return { status: "degraded", detail: "The file has changed." };
      // Fetches without an account, as the providers will.
      await hub.part(ref, revision, filePath, { first: 0, last: 7, isAnonymous: true });
      return HEALTHY;
    } catch (cause) {
      return sourceHealth(cause);
    }
  },
};

const HEALTHY = { status: "healthy", detail: null } as const;
const CLOSED = "The repository is gated, private or disabled, so providers cannot download weights from it.";

/** The files that can be weights. If there are none and `areNeeded`, throws a SourceFault that says why. */
function weightsAmong(files: HubFile[], areNeeded: boolean): HubFile[] {
  const all = files.filter(({ isFile, path }) => isFile && /\.safetensors$/i.test(path));
  const whole = all.filter(({ path }) => !/-\d{5}-of-\d{5}\.safetensors$/i.test(path));
  if (whole.length > 0 || !areNeeded) return whole;
  if (all.length > 0)
    throw new SourceFault(
      "unusable",
      "The weights are split into several parts, like a whole model. A LoRA must be one file.",
    );
  const isPickled = files.some(({ path }) => /\.(bin|ckpt|pt|pth|pkl)$/i.test(path));
  throw new SourceFault(
    "unusable",
    isPickled
      ? "The repository has weights only in formats that can contain code. Use .safetensors."
      : "The repository has no .safetensors file.",
  );
}

async function findFile(
  hub: HubClient,
  { repo, commit }: Pick<HubFacts, "repo" | "commit">,
  path: string,
  listed?: HubFile[],
): Promise<HubFile> {
  if (!/\.safetensors$/i.test(path))
    throw new SourceFault("unusable", "Weights must be a .safetensors file.");
  if (/-\d{5}-of-\d{5}\.safetensors$/i.test(path))
    throw new SourceFault("unusable", "This file is one of several parts. A LoRA must be one file.");
  const isIt = (file: HubFile) => file.isFile && file.path === path;
  const known = listed?.find(isIt);
  if (known) return known;
  const { files } = await hub.files(repo, commit, path.split("/").slice(0, -1).join("/"));
  const found = files.find(isIt);
  if (!found) throw new SourceFault("not_found", "The repository has no such file.");
  return found;
}

const headerOf = (hub: HubClient, { repo, commit }: HubFacts, { path, byteLength }: HubFile) =>
  readWeightsHeader((first, last) => hub.part(repo, commit, path, { first, last }), byteLength);

async function cardOf(hub: HubClient, { repo, commit }: HubFacts): Promise<ModelCard | null> {
  const text = await hub.text(repo, commit, "README.md", MOST_CARD_BYTES);
  return text === null ? null : readModelCard(text);
}

/** The family that card or file names; null, with a warning, if the two disagree, the card names several, or neither names one. */
function familyFrom(
  card: ModelCard | null,
  fileFacts: LoraFacts | null,
  warnings: string[],
): FamilyName | null {
  const byCard = [...new Set((card?.baseModels ?? []).map(familyOfHubId).filter((each) => each !== null))];
  const byFile = fileFacts?.baseModelFamily ? familyOfWord(fileFacts.baseModelFamily) : null;
  if (byCard.length > 1) {
    warnings.push("The model card lists base models of several families.");
    return null;
  }
  const [named = null] = byCard;
  // The file reports `sd3` for every model with such layers, and the card is more precise.
  if (named && byFile && named !== byFile && !named.startsWith(byFile)) {
    warnings.push(`The model card says ${named}, but the file looks like ${byFile}.`);
    return null;
  }
  if (!named && !byFile) warnings.push("The base model family is unknown.");
  return named ?? byFile;
}

function wordsFrom(card: ModelCard | null, fileFacts: LoraFacts | null, warnings: string[]): string[] {
  const prompt = card?.instancePrompt ?? "";
  const all = [...prompt.split(","), ...(fileFacts?.triggerWords ?? [])].map((each) => each.trim());
  const words = [
    ...new Set(all.filter((each) => each !== "" && each !== "-" && each.length <= MOST_WORD_LENGTH)),
  ];
  if (all.some((each) => each.length > MOST_WORD_LENGTH))
    warnings.push("A trigger text was too long and was left out.");
  return words.slice(0, MOST_WORDS);
}

function licenseFrom(
  hub: HubClient,
  { repo, commit }: HubFacts,
  card: ModelCard | null,
  fileFacts: LoraFacts | null,
) {
  const link = card?.licenseLink ?? null;
  const isAddress = link !== null && /^https:\/\//i.test(link) && URL.canParse(link);
  const isFile = link !== null && /^[\w][\w./-]{0,200}$/.test(link) && !link.includes("..");
  return {
    licenseName: (card?.licenseName ?? fileFacts?.licenseName ?? null)?.slice(0, 255) ?? null,
    licenseUrl: isAddress ? link : isFile ? hub.urlOf(repo, commit, link) : null,
  };
}
