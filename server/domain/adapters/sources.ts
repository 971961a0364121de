import type { ModelAdapterCreate } from "@/server/contract/adapters";
import type { Provider } from "@/server/providers/define";
import { providers } from "@/server/providers/registry.gen";
import type { KnownSource } from "./insert";
import { refuseAt } from "./rows";

type Named = ModelAdapterCreate["source"];

const AT = ["body", "source"];

/** Looks at the source a registration names, and fixes which bytes it means where that can be done. */
export function sourceOf(source: Named): KnownSource {
  switch (source.kind) {
    case "provider_ref":
      return ofProvider(source);
    default:
      refuseAt([...AT, "kind"], `not served by this version: ${source.kind}`, "value_error");
  }
}

/** The providers that draw with LoRA weights. */
export function adapterProviders(): string[] {
  return (providers as Provider[])
    .filter(({ models }) => models.some(({ supports }) => supports.adapters))
    .map(({ name }) => name);
}

/** Weights a provider knows by a word of its own. With a revision they are taken to be the same for ever; nobody else can look. */
function ofProvider({ ref, revision, filePath, provider }: Named): KnownSource {
  if (!provider || !adapterProviders().includes(provider))
    refuseAt(
      [...AT, "provider"],
      `Whose reference it is: one of ${adapterProviders().join(", ")}.`,
      "value_error",
    );
  refuseGiven({ filePath }, "A provider's reference names its weights by itself.");
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

/** What does not belong to a kind of source is refused, never ignored. */
function refuseGiven(fields: Partial<Named>, why: string): void {
  for (const [field, value] of Object.entries(fields))
    if (value) refuseAt([...AT, field], why, "value_error");
}
