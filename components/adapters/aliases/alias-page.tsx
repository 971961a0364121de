"use client";
import { useSuspenseQuery } from "@tanstack/react-query";
import { useState } from "react";
import {
  adapterHref,
  aliasesHref,
  defaultsHref,
  type PageState,
  toPageQuery,
} from "@/components/adapters/list-state";
import { FrozenBadge, familyWords, HealthBadge } from "@/components/adapters/words";
import { useProject } from "@/components/blocks/data/use-project";
import { PageHeader } from "@/components/shell/page-header";
import { Moment } from "@/components/time/moment";
import { useTRPC } from "@/components/trpc";
import { Button } from "@/components/ui/button";
import { Section } from "@/components/ui/card";
import { CopyableId } from "@/components/ui/copyable-id";
import { Fact, Facts } from "@/components/ui/facts";
import { JsonView } from "@/components/ui/json-view";
import Link from "@/components/ui/link";
import type { AliasShown } from "@/server/contract/adapters";
import { AliasHistory } from "./alias-history";
import { type Target, weightWords } from "./diff";
import { Promote } from "./promote";
import { RecipeCard } from "./recipe-card";

/** One alias: its target, its versions, and the version the project's recipe is pinned to. */
export function AliasPage({ projectId, name, state }: { projectId: string; name: string; state: PageState }) {
  const trpc = useTRPC();
  const { environment } = state;
  const { data: alias } = useSuspenseQuery(
    trpc.adapters.alias.queryOptions({ projectId, environment, alias_name: name }),
  );
  const { data: history } = useSuspenseQuery(
    trpc.adapters.history.queryOptions({ ...toPageQuery(projectId, state), alias_name: name }),
  );
  const { may, whyNot } = useProject(projectId);
  const mayWrite = may("member");
  /** The target the dialog starts with; null while the dialog is closed. */
  const [offer, setOffer] = useState<{ target: Target | null } | null>(null);
  return (
    <>
      <PageHeader
        back={{ href: aliasesHref(projectId, { environment }), label: "Aliases" }}
        title={<span className="[overflow-wrap:anywhere]">{alias.alias}</span>}
        actions={
          mayWrite && (
            <Button variant="primary" onClick={() => setOffer({ target: null })}>
              Promote
            </Button>
          )
        }
      >
        <span className="flex flex-wrap items-center gap-x-3 gap-y-1 text-sm">
          <span>
            Version {alias.current.number} of {alias.versionCount}
          </span>
          <span>{alias.environment}</span>
          <CopyableId id={alias.aliasId} what="alias id" short />
        </span>
      </PageHeader>
      {mayWrite && offer && <Promote alias={alias} offered={offer.target} onClose={() => setOffer(null)} />}
      <div className="grid items-start gap-4 lg:grid-cols-[minmax(0,3fr)_minmax(0,2fr)]">
        <CurrentCard projectId={projectId} environment={environment} alias={alias} />
        <RecipeCard
          alias={alias}
          versions={history.items}
          whyNot={mayWrite ? null : whyNot("member", "pin a version")}
        />
        <div className="min-w-0 lg:col-span-2">
          <AliasHistory
            projectId={projectId}
            alias={alias}
            history={history}
            state={state}
            onPromote={mayWrite ? (target) => setOffer({ target }) : null}
          />
        </div>
      </div>
    </>
  );
}

function CurrentCard({
  projectId,
  environment,
  alias,
}: {
  projectId: string;
  /** As named in the URL. */
  environment: string | undefined;
  alias: AliasShown;
}) {
  const trpc = useTRPC();
  const { data: choices } = useSuspenseQuery(trpc.adapters.choices.queryOptions());
  const { data: defaults } = useSuspenseQuery(
    trpc.adapters.defaults.queryOptions({ projectId, environment }),
  );
  const { adapter, current } = alias;
  const used = defaults.filter((each) => each.alias === alias.alias);
  return (
    <Section title="Target" hint={`Version ${current.number}`} bodyClassName="space-y-4">
      <Facts>
        <Fact name="Adapter">
          <span className="flex flex-wrap items-center gap-2">
            <Link
              href={adapterHref(projectId, adapter.adapterId)}
              className="min-w-0 font-medium text-link hover:underline"
            >
              {adapter.displayName}
            </Link>
            <HealthBadge health={adapter.sourceHealth} />
            <FrozenBadge frozen={adapter.frozen} />
          </span>
        </Fact>
        <Fact name="Strength">{weightWords(current.target.weight, adapter)}</Fact>
        <Fact name="Base model">{familyWords(adapter.baseModelFamily, choices.families)}</Fact>
        <Fact name="Trigger words">
          {adapter.triggerWords.length > 0 ? adapter.triggerWords.join(", ") : null}
        </Fact>
        <Fact name="Promoted">
          <Moment at={current.createdAt} />
        </Fact>
        <Fact name="Default for">
          {used.length > 0 ? (
            <Link href={defaultsHref(projectId, alias.environment)} className="text-link hover:underline">
              {used.map(({ capabilityKey }) => capabilityKey).join(", ")}
            </Link>
          ) : (
            <span className="text-muted">None</span>
          )}
        </Fact>
      </Facts>
      <JsonView value={{ adapters: [{ alias: alias.alias }] }} what="input with this alias" />
    </Section>
  );
}
