"use client";
import { useSuspenseQuery } from "@tanstack/react-query";
import { useRouter } from "next/navigation";
import { formatBytes } from "@/components/artifacts/format-bytes";
import { textIn } from "@/components/blocks/data/unknown";
import { useAction } from "@/components/blocks/data/use-action";
import { useProject } from "@/components/blocks/data/use-project";
import { FormDialog } from "@/components/blocks/form/form-dialog";
import { oneOf } from "@/components/blocks/list/list-state";
import { Caller } from "@/components/callers/caller";
import { toFailure, useTRPC } from "@/components/data/trpc";
import { Tags } from "@/components/jobs/caller-facts";
import { PageHeader } from "@/components/shell/page-header";
import { Ago, Moment } from "@/components/time/moment";
import { Button } from "@/components/ui/button";
import { CardBody, Section } from "@/components/ui/card";
import { CopyableId } from "@/components/ui/copyable-id";
import { Fact, Facts, HashFact } from "@/components/ui/facts";
import { JsonView } from "@/components/ui/json-view";
import Link from "@/components/ui/link";
import { Notice } from "@/components/ui/notice";
import type { AdapterUse, ModelAdapter } from "@/server/contract/adapters";
import { adaptersHref, aliasHref, defaultsHref } from "./list-state";
import {
  CATALOG_ONLY,
  FrozenBadge,
  familyWords,
  HEALTH_LOOK,
  HealthBadge,
  licenseWords,
  SOURCE_KIND,
} from "./words";

/** One adapter: its source, its health, and how to use it in a request. */
export function AdapterPage({ projectId, adapterId }: { projectId: string; adapterId: string }) {
  const trpc = useTRPC();
  const { data: adapter } = useSuspenseQuery(trpc.adapters.get.queryOptions({ adapter_id: adapterId }));
  const { data: choices } = useSuspenseQuery(trpc.adapters.choices.queryOptions());
  const mayWrite = useProject(projectId).may("member");
  const { environment } = adapter;
  return (
    <>
      <PageHeader
        back={{ href: adaptersHref(projectId, { environment }), label: "Adapters" }}
        title={<span className="[overflow-wrap:anywhere]">{adapter.displayName}</span>}
        actions={mayWrite && <DeleteAdapter projectId={projectId} adapter={adapter} />}
      >
        <span className="flex flex-wrap items-center gap-x-3 gap-y-1 text-sm">
          <HealthBadge health={adapter.sourceHealth} />
          <FrozenBadge frozen={adapter.frozen} />
          <span>{familyWords(adapter.baseModelFamily, choices.families)}</span>
          <span>{environment}</span>
          <CopyableId id={adapterId} what="adapter id" short />
        </span>
      </PageHeader>
      {!adapter.frozen && (
        <Notice tone="warn" title="Catalog only" className="mb-4">
          {CATALOG_ONLY}
        </Notice>
      )}
      <div className="grid items-start gap-4 lg:grid-cols-[minmax(0,3fr)_minmax(0,2fr)]">
        <div className="grid min-w-0 gap-4">
          <UseInRequest projectId={projectId} adapter={adapter} />
          <SourceCard adapter={adapter} />
          {Object.keys(adapter.provenance).length > 0 && (
            <Section title="Provenance" hint="As registered">
              <JsonView value={adapter.provenance} what="provenance" />
            </Section>
          )}
        </div>
        <div className="grid min-w-0 gap-4">
          <HealthCard adapter={adapter} mayWrite={mayWrite} />
          <AboutCard projectId={projectId} adapter={adapter} />
        </div>
      </div>
    </>
  );
}

function SourceCard({ adapter }: { adapter: ModelAdapter }) {
  const { kind, ref, revision, filePath, provider, sha256, byteLength } = adapter.source;
  return (
    <Section title="Source" hint={adapter.frozen ? "Pinned to these exact bytes" : "May change"}>
      <Facts>
        <Fact name="Kind">{SOURCE_KIND[kind]}</Fact>
        <Fact name="Provider">{provider}</Fact>
        <Fact name={kind === "service_artifact" ? "Artifact" : "Reference"}>
          <CopyableId id={ref} what="reference" />
        </Fact>
        <HashFact name={kind === "huggingface" ? "Commit" : "Revision"} hash={revision} />
        <Fact name="File">{filePath}</Fact>
        <HashFact name="SHA-256" hash={sha256} />
        <Fact name="Size">
          {byteLength === null
            ? "Unknown"
            : `${formatBytes(byteLength)} (${byteLength.toLocaleString("en-US")} bytes)`}
        </Fact>
      </Facts>
    </Section>
  );
}

function HealthCard({ adapter, mayWrite }: { adapter: ModelAdapter; mayWrite: boolean }) {
  const trpc = useTRPC();
  const { sourceHealth } = adapter;
  const recheck = useAction(trpc.adapters.revalidate.mutationOptions(), {
    done: ({ sourceHealth: { status } }) => `Checked: ${HEALTH_LOOK[status].label}`,
    refresh: [trpc.adapters.pathKey()],
  });
  return (
    <Section
      title="Health"
      actions={
        mayWrite && (
          <Button
            size="sm"
            pending={recheck.isPending}
            onClick={() => recheck.mutate({ adapter_id: adapter.adapterId })}
          >
            Check again
          </Button>
        )
      }
      isFlush
    >
      <CardBody className="space-y-2 text-sm" role="status" aria-busy={recheck.isPending}>
        <p className="flex flex-wrap items-center gap-2">
          <HealthBadge health={sourceHealth} />
          <span className="text-muted">
            {sourceHealth.checkedAt ? (
              <>
                Checked <Ago at={sourceHealth.checkedAt} />
              </>
            ) : (
              "Never checked"
            )}
          </span>
        </p>
        <p>{sourceHealth.detail ?? HEALTH_LOOK[sourceHealth.status].meaning}</p>
        <p className="text-xs text-muted">
          A check looks for exactly these weights and never replaces them with newer ones.
        </p>
      </CardBody>
    </Section>
  );
}

function AboutCard({ projectId, adapter }: { projectId: string; adapter: ModelAdapter }) {
  const { aliases, triggerWords, compatibleModels, recommendedWeight, licenseUrl, environment } = adapter;
  return (
    <Section title="About">
      <Facts>
        <Fact name="Aliases">
          {aliases.length === 0 ? (
            <span className="text-muted">No alias</span>
          ) : (
            <span className="flex flex-wrap gap-x-3">
              {aliases.map((alias) => (
                <Link
                  key={alias}
                  href={aliasHref(projectId, alias, { environment })}
                  className="text-link hover:underline"
                >
                  {alias}
                </Link>
              ))}
            </span>
          )}
        </Fact>
        <Fact name="Trigger words">
          {triggerWords.length === 0 ? (
            <span className="text-muted">None</span>
          ) : (
            <Tags tags={triggerWords} />
          )}
        </Fact>
        <Fact name="Strength">
          {recommendedWeight === null ? "1 (default)" : `${recommendedWeight} recommended`}
        </Fact>
        <Fact name="Compatible models">
          {compatibleModels.length > 0 ? compatibleModels.join(", ") : null}
        </Fact>
        <Fact name="License">
          {licenseUrl ? (
            <a href={licenseUrl} target="_blank" rel="noreferrer" className="text-link hover:underline">
              {licenseWords(adapter)}
            </a>
          ) : (
            licenseWords(adapter)
          )}
        </Fact>
        <Fact name="Registered">
          <Moment at={adapter.createdAt} />
        </Fact>
        <Fact name="Registered by">
          <Caller projectId={projectId} id={adapter.createdBy} />
        </Fact>
      </Facts>
    </Section>
  );
}

const KINDS = ["alias", "default", "binding"] as const;
type Reference = { kind: (typeof KINDS)[number]; name: string };

/** The things that still use the adapter, from the details of a refusal. */
function referencesIn(details: unknown): Reference[] {
  if (!Array.isArray(details)) return [];
  return details.flatMap((each) => {
    const kind = oneOf(KINDS)(textIn(each, "kind"));
    const name = textIn(each, "name");
    return kind && name ? [{ kind, name }] : [];
  });
}

/** Deletes an adapter, or links to the things that still use it. */
function DeleteAdapter({ projectId, adapter }: { projectId: string; adapter: ModelAdapter }) {
  const trpc = useTRPC();
  const router = useRouter();
  const { environment } = adapter;
  const remove = useAction(trpc.adapters.remove.mutationOptions(), {
    isInPlace: true,
    done: "Adapter deleted",
    onDone: () => router.push(adaptersHref(projectId, { environment })),
    refresh: [trpc.adapters.list.pathKey()],
  });
  const references = remove.error ? referencesIn(toFailure(remove.error).details.references) : [];
  return (
    <FormDialog
      title={`Delete “${adapter.displayName}”?`}
      description="Requests can no longer use it, and its name becomes available again. Existing receipts don't change."
      trigger={<Button>Delete</Button>}
      action={remove}
      send={() => remove.mutate({ adapter_id: adapter.adapterId })}
      submit="Delete adapter"
      tone="danger"
      isReady={references.length === 0}
    >
      {references.length > 0 && (
        <ul aria-label="Used by" className="list-disc pl-4 text-sm">
          {references.map((reference) => (
            <li key={`${reference.kind} ${reference.name}`}>
              <Link href={placeOf(projectId, environment, reference)} className="text-link underline">
                {REFERENCE[reference.kind](reference.name)}
              </Link>
            </li>
          ))}
        </ul>
      )}
    </FormDialog>
  );
}

const REFERENCE: Record<Reference["kind"], (name: string) => string> = {
  alias: (name) => `Alias “${name}” points to it`,
  default: (name) => `Default for ${name}`,
  binding: (name) => `The recipe is pinned to a version of “${name}” that uses it`,
};

const placeOf = (projectId: string, environment: string, { kind, name }: Reference): string =>
  kind === "default" ? defaultsHref(projectId, environment) : aliasHref(projectId, name, { environment });

const MOST_MODELS = 6;

/** The input of a request that uses the adapter, and the models that support it. */
function UseInRequest({ projectId, adapter }: { projectId: string; adapter: ModelAdapter }) {
  const trpc = useTRPC();
  const { data: uses } = useSuspenseQuery(trpc.adapters.uses.queryOptions({ adapter_id: adapter.adapterId }));
  const [alias] = adapter.aliases;
  const weight = adapter.recommendedWeight ?? 1;
  const [word] = adapter.triggerWords;
  const choice = alias === undefined ? { adapterId: adapter.adapterId, weight } : { alias };
  const input = {
    prompt: word ? `${word}, a lighthouse at dawn` : "A lighthouse at dawn",
    adapters: [choice],
  };
  const usable = uses.filter(({ problem }) => problem === null);
  return (
    <Section title="Use in a request" bodyClassName="space-y-3 text-sm">
      {uses.map((use) =>
        use.problem === null ? (
          <p key={use.capabilityKey}>
            Input for{" "}
            <Link
              href={`/projects/${projectId}/catalog/${use.capabilityKey}`}
              className="text-link underline"
            >
              {use.capabilityKey}
            </Link>
            . {modelsWords(use)}
          </p>
        ) : (
          <Notice key={use.capabilityKey} tone="warn" title={`Not usable with ${use.capabilityKey}`}>
            {use.problem}
          </Notice>
        ),
      )}
      {usable.length > 0 && (
        <>
          <JsonView value={input} what="input with this adapter" />
          <p className="text-xs text-muted">
            {alias === undefined
              ? "Create an alias to switch to better weights later without changing requests. "
              : `“${alias}” uses the latest promoted version, currently this adapter. `}
            A request can use up to four adapters.
          </p>
        </>
      )}
    </Section>
  );
}

/** The sandbox simulates every model, so it is mentioned only when no other model supports the adapter. */
function modelsWords({ models }: AdapterUse): string {
  const real = models.filter((model) => !model.startsWith("sandbox/"));
  if (real.length === 0) return "No provider here supports it yet; the sandbox simulates one.";
  const shown = real.slice(0, MOST_MODELS).join(", ");
  const others = real.length - MOST_MODELS;
  return others > 0 ? `Works with ${shown} and ${others} more.` : `Works with ${shown}.`;
}
