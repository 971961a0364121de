"use client";
import { useSuspenseQuery } from "@tanstack/react-query";
import { formatBytes } from "@/components/artifacts/format-bytes";
import { useAction } from "@/components/blocks/data/use-action";
import { useProject } from "@/components/blocks/data/use-project";
import { PageHeader } from "@/components/shell/page-header";
import { Moment } from "@/components/time/moment";
import { useTRPC } from "@/components/trpc";
import { Badge } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
import { Card, CardBody, CardHeader } from "@/components/ui/card";
import { CopyableId } from "@/components/ui/copyable-id";
import { Fact, Facts, HashFact } from "@/components/ui/facts";
import { JsonView } from "@/components/ui/json-view";
import Link from "@/components/ui/link";
import { Notice } from "@/components/ui/notice";
import type { ModelAdapter } from "@/server/contract/adapters";
import { DeleteAdapter } from "./delete-adapter";
import { adaptersHref, aliasHref } from "./list-state";
import { UseInRequest } from "./use-in-request";
import {
  CATALOG_ONLY,
  CheckedAt,
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
            <Card aria-labelledby="provenance-title">
              <CardHeader title="Provenance" id="provenance-title" hint="As registered" />
              <CardBody>
                <JsonView value={adapter.provenance} what="provenance" />
              </CardBody>
            </Card>
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
    <Card aria-labelledby="source-title">
      <CardHeader
        title="Source"
        id="source-title"
        hint={adapter.frozen ? "Pinned to these exact bytes" : "May change"}
      />
      <CardBody>
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
      </CardBody>
    </Card>
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
    <Card aria-labelledby="health-title">
      <CardHeader
        title="Health"
        id="health-title"
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
      />
      <CardBody className="space-y-2 text-sm" role="status" aria-busy={recheck.isPending}>
        <p className="flex flex-wrap items-center gap-2">
          <HealthBadge health={sourceHealth} />
          <span className="text-muted">
            <CheckedAt health={sourceHealth} />
          </span>
        </p>
        <p>{sourceHealth.detail ?? HEALTH_LOOK[sourceHealth.status].meaning}</p>
        <p className="text-xs text-muted">
          A check looks for exactly these weights and never replaces them with newer ones.
        </p>
      </CardBody>
    </Card>
  );
}

function AboutCard({ projectId, adapter }: { projectId: string; adapter: ModelAdapter }) {
  const { aliases, triggerWords, compatibleModels, recommendedWeight, licenseUrl, environment } = adapter;
  return (
    <Card aria-labelledby="about-title">
      <CardHeader title="About" id="about-title" />
      <CardBody>
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
              <span className="flex flex-wrap gap-1">
                {triggerWords.map((word) => (
                  <Badge key={word}>
                    <span className="truncate">{word}</span>
                  </Badge>
                ))}
              </span>
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
            <CopyableId id={adapter.createdBy} what="caller id" short />
          </Fact>
        </Facts>
      </CardBody>
    </Card>
  );
}
