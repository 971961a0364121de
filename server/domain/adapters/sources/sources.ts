import {
  checkSafetensors,
  type LoraFacts,
  loraFacts,
  SafetensorsRefusal,
} from "@/server/compute/safetensors";
import type { ModelAdapterCreate } from "@/server/contract/adapters";
import { access } from "@/server/domain/access";
import { artifactStore } from "@/server/domain/artifacts";
import { sandboxSource } from "@/server/domain/catalog";
import type { Ctx } from "@/server/domain/ctx";
import { artifactInput } from "@/server/domain/inputs";
import { type FrozenSource, readSource, type SourceRef, sourceIo, sourceOf } from "@/server/model-sources";
import { providers } from "@/server/providers/registry.gen";
import type { AdapterDescription, KnownSource } from "../insert";
import type { AdapterEnvironment } from "../place";
import { refuseAt } from "../rows";
import { askSource } from "./ask-source";

type Named = ModelAdapterCreate["source"];
type FileFacts = Omit<AdapterDescription, "displayName">;
/** A source, and the facts in its weights. */
type Found = { source: KnownSource; fileFacts?: FileFacts };

const AT = ["body", "source"];

/** Looks at the source of a registration, and fixes its bytes where possible. */
export async function findSource(ctx: Ctx, place: AdapterEnvironment, named: Named): Promise<Found> {
  switch (named.kind) {
    case "provider_ref":
      return { source: isLink(named) ? await ofHub(ctx, named) : ofProvider(named) };
    case "service_artifact":
      return ofArtifact(ctx, place, named);
    case "huggingface":
      return { source: await ofHub(ctx, named) };
  }
}

/** True for a direct link: a reference without a provider. */
const isLink = ({ ref, provider }: Named) =>
  !provider && readSource(ref)?.kind === "provider_ref" && /^https?:/i.test(ref.trim());

/** Names of the providers that support LoRA weights. */
export function adapterProviders(): string[] {
  return providers
    .filter(({ models }) => models.some(({ supports }) => supports.adapters))
    .map(({ name }) => name);
}

/**
 * Weights that a provider knows by its own reference. With a revision they are assumed never to change, since
 * only the provider can check.
 */
function ofProvider({ ref, revision, filePath, provider }: Named): KnownSource {
  if (!provider || !adapterProviders().includes(provider))
    refuseAt(
      [...AT, "provider"],
      `Name the provider of this reference: one of ${adapterProviders().join(", ")}.${sandboxSource()}`,
      "value_error",
    );
  refuseGiven({ filePath }, "A provider's reference already identifies the weights. Leave this field out.");
  return {
    kind: "provider_ref",
    ref,
    revision: revision || null,
    filePath: null,
    provider,
    sha256: null,
    byteLength: null,
    frozen: Boolean(revision),
    artifactId: null,
    health: { status: "unknown", checkedAt: null, detail: null },
  };
}

/** Weights in an artifact of the project: read once, from the first byte to the last, and checked. */
async function ofArtifact(ctx: Ctx, { projectId }: AdapterEnvironment, named: Named): Promise<Found> {
  const { ref, revision, filePath, provider } = named;
  refuseGiven({ revision, filePath, provider }, "An artifact needs only its id. Leave this field out.");
  const found = await artifactInput({ projectId, outputsOf: access.outputsOf(ctx) }, ref, ["source", "ref"]);
  try {
    const pieces = await artifactStore().open(found.sha256);
    const { header } = await checkSafetensors(pieces, { expectedBytes: found.byte_length });
    const fileFacts = fileFactsOf(await loraFacts(header));
    return { source: ofStored(ctx, found.id, found.sha256, found.byte_length), fileFacts };
  } catch (error) {
    if (!(error instanceof SafetensorsRefusal)) throw error;
    refuseAt([...AT, "ref"], error.message, error.rule);
  }
}

/** The source of checked weights in our own store. */
export function ofStored(ctx: Ctx, artifactId: string, sha256: string, byteLength: number): KnownSource {
  return {
    kind: "service_artifact",
    ref: artifactId,
    revision: null,
    filePath: null,
    provider: null,
    sha256,
    byteLength,
    frozen: true,
    artifactId,
    health: { status: "healthy", checkedAt: ctx.now(), detail: null },
  };
}

/** The description that weights contain in their metadata. */
export function fileFactsOf(facts: LoraFacts): FileFacts {
  const { baseModelFamily, triggerWords, recommendedWeight, licenseName } = facts;
  return { baseModelFamily, triggerWords, recommendedWeight, licenseName };
}

/** Fills in the fields that the caller omitted, using the metadata of the weights. */
export function described<S extends AdapterDescription>(said: S, fileFacts: FileFacts | undefined): S {
  return {
    ...said,
    baseModelFamily: said.baseModelFamily || fileFacts?.baseModelFamily,
    triggerWords: said.triggerWords?.length ? said.triggerWords : fileFacts?.triggerWords,
    recommendedWeight: said.recommendedWeight ?? fileFacts?.recommendedWeight,
    licenseName: said.licenseName || fileFacts?.licenseName,
  };
}

/**
 * A file of a repository, at the named commit or the current one of its branch or tag; or a direct link, whose
 * owner may change or remove the file.
 */
async function ofHub(ctx: Ctx, { ref, revision, filePath, provider }: Named): Promise<KnownSource> {
  refuseGiven({ provider }, "Only a provider's reference has a provider. Leave this field out.");
  const read = readSource(ref);
  if (!read || read.kind === "service_artifact" || read.provider !== null)
    refuseAt(
      [...AT, "ref"],
      "This is neither a repository (`owner/name`) nor a link to an allowed host.",
      "value_error",
    );
  if (read.kind !== "huggingface")
    refuseGiven({ revision, filePath }, "A link already identifies its file. Leave this field out.");
  const wanted = {
    ...read,
    revision: revision || read.revision,
    filePath: filePath || read.filePath,
  };
  return toKnown(ctx, await freeze(ctx, wanted, [...AT, "ref"]));
}

/**
 * Fixes which bytes a reference means now; `isFrozen` is false if the source cannot. A refusal by the source is
 * a 422 at this place of the request.
 */
export function freeze(ctx: Ctx, wanted: SourceRef, at: string[]): Promise<FrozenSource> {
  return askSource(at, async () => {
    const frozen = await sourceOf(wanted).freeze?.(wanted, sourceIo(ctx.signal?.()));
    if (!frozen) throw new Error(`sources of kind ${wanted.kind} cannot be looked up`);
    return frozen;
  });
}

/** The stored form of a source that was just looked at. */
export function toKnown(ctx: Ctx, { source, isFrozen, sha256, byteLength }: FrozenSource): KnownSource {
  return {
    ...source,
    sha256,
    byteLength,
    frozen: isFrozen,
    artifactId: null,
    health: { status: "healthy", checkedAt: ctx.now(), detail: null },
  };
}

/** Refuses fields that do not belong to this kind of source, instead of ignoring them. */
function refuseGiven(fields: Partial<Named>, why: string): void {
  for (const [field, value] of Object.entries(fields))
    if (value) refuseAt([...AT, field], why, "value_error");
}
