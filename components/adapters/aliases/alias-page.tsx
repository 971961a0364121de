"use client";
import { useSuspenseQuery } from "@tanstack/react-query";
import { useState } from "react";
import { AdapterPicker } from "@/components/adapters/adapter-picker";
import {
  adapterHref,
  aliasesHref,
  defaultsHref,
  type PageState,
  toPageQuery,
} from "@/components/adapters/list-state";
import { readWeight, WeightField } from "@/components/adapters/weight-field";
import { FrozenBadge, familyWords, HealthBadge } from "@/components/adapters/words";
import { useAction } from "@/components/blocks/data/use-action";
import { useProject } from "@/components/blocks/data/use-project";
import { ConfirmAction } from "@/components/blocks/feedback/confirm-action";
import { FormDialog } from "@/components/blocks/form/form-dialog";
import { useTRPC } from "@/components/data/trpc";
import { PageHeader } from "@/components/shell/page-header";
import { Ago, Moment } from "@/components/time/moment";
import { Button } from "@/components/ui/button";
import { Section } from "@/components/ui/card";
import { Choice } from "@/components/ui/choice";
import { CopyableId } from "@/components/ui/copyable-id";
import { Fact, Facts } from "@/components/ui/facts";
import { JsonView } from "@/components/ui/json-view";
import Link from "@/components/ui/link";
import { Notice } from "@/components/ui/notice";
import type { AliasShown, AliasStep, ModelAdapter } from "@/server/contract/adapters";
import { AliasHistory } from "./alias-history";
import { isSameTarget, type WeightedAdapter, weightWords } from "./diff";
import { DiffTable } from "./diff-table";

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
  const [offer, setOffer] = useState<{ target: WeightedAdapter | null } | null>(null);
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

type Props = {
  alias: AliasShown;
  /** The initial choice; null for the current adapter. */
  offered: WeightedAdapter | null;
  onClose(): void;
};

/** Points an alias to another target, after showing the differences. */
function Promote({ alias, offered, onClose }: Props) {
  const trpc = useTRPC();
  const before: WeightedAdapter = { adapter: alias.adapter, weight: alias.current.target.weight };
  const first = offered ?? before;
  const [adapter, setAdapter] = useState<ModelAdapter>(first.adapter);
  const [text, setText] = useState(first.weight === null ? "" : String(first.weight));
  const weight = readWeight(text);
  const after = weight === undefined ? null : { adapter, weight };
  const next = alias.versionCount + 1;
  const promote = useAction(trpc.adapters.promote.mutationOptions(), {
    isInPlace: true,
    done: ({ current }) => `“${alias.alias}” promoted to version ${current.number}`,
    refresh: [trpc.adapters.pathKey()],
  });
  return (
    <FormDialog
      isOpen
      onOpenChange={onClose}
      isWide
      title={`Promote “${alias.alias}”`}
      description="New requests that name the alias use the new version. Requests that were already accepted don't change."
      action={promote}
      send={() => {
        if (!after) return;
        promote.mutate({
          projectId: alias.projectId,
          environment: alias.environment,
          alias_name: alias.alias,
          target: { adapterId: after.adapter.adapterId, weight: after.weight },
        });
      }}
      submit={`Promote to version ${next}`}
      isReady={after !== null && !isSameTarget(before, after)}
    >
      <AdapterPicker
        projectId={alias.projectId}
        environment={alias.environment}
        chosen={adapter}
        onChoose={setAdapter}
      />
      <WeightField
        id="promote-weight"
        value={text}
        onChange={setText}
        hint="1 is the strength as trained. Leave empty to use the adapter's recommendation."
      />
      <section aria-labelledby="promote-diff" aria-live="polite">
        <h3 id="promote-diff" className="mb-1.5 text-sm font-medium">
          From version {alias.current.number} to version {next}
        </h3>
        {after && <DiffTable before={before} after={after} />}
        {!adapter.frozen && (
          <Notice tone="warn" className="mt-2">
            This adapter is catalog-only. Requests that name the alias would be refused.
          </Notice>
        )}
      </section>
    </FormDialog>
  );
}

/** The version that the project's recipe is pinned to, and the form that pins it. */
function RecipeCard({
  alias,
  versions,
  whyNot,
}: {
  alias: AliasShown;
  versions: AliasStep[];
  /** The reason why the reader may not pin a version; null if they may. */
  whyNot: string | null;
}) {
  const { binding, current } = alias;
  const choosable = versions.filter(({ isAdapterDeleted }) => !isAdapterDeleted);
  return (
    <Section title="Recipe" hint="The version this project uses by default" bodyClassName="space-y-3 text-sm">
      {binding ? (
        <p>
          <strong className="font-semibold">Pinned to version {binding.number}</strong>{" "}
          <Ago at={binding.boundAt} />. Where this alias is the default, requests that name no adapter use
          version {binding.number}
          {binding.number === current.number
            ? ", even after another is promoted."
            : `, although the alias is now at version ${current.number}.`}
        </p>
      ) : (
        <p>
          <strong className="font-semibold">Follows the alias.</strong> Where this alias is the default,
          requests that name no adapter use the latest promoted version. Pin a version to keep using it until
          you pin another.
        </p>
      )}
      <p className="text-xs text-muted">A request that names the alias always uses its current version.</p>
      {whyNot === null && choosable.length > 0 && <Pin alias={alias} versions={choosable} />}
      {whyNot !== null && <p className="text-xs text-muted">{whyNot}</p>}
    </Section>
  );
}

function Pin({ alias, versions }: { alias: AliasShown; versions: AliasStep[] }) {
  const trpc = useTRPC();
  const first = versions.find(({ number }) => number === alias.current.number) ?? versions[0];
  const [chosen, setChosen] = useState(first?.versionId ?? "");
  const version = versions.find(({ versionId }) => versionId === chosen) ?? first;
  const bind = useAction(trpc.adapters.bind.mutationOptions(), {
    done: ({ number }) => `Recipe pinned to version ${number}`,
    refresh: [trpc.adapters.pathKey()],
  });
  if (!version) return null;
  const isPinned = alias.binding?.versionId === version.versionId;
  return (
    <div className="flex flex-wrap items-end gap-2">
      <div className="min-w-0 flex-1 basis-48">
        <Choice
          label="Version"
          value={version.versionId}
          options={versions.map(({ versionId, number, adapter }) => [
            versionId,
            `${number}: ${adapter.displayName}${number === alias.current.number ? " (current)" : ""}`,
          ])}
          onChange={setChosen}
        />
      </div>
      <ConfirmAction
        label={isPinned ? "Pinned" : "Pin version"}
        title={`Pin the recipe to version ${version.number}?`}
        description={`Where “${alias.alias}” is the default, requests that name no adapter use ${version.adapter.displayName}, even after another version is promoted. A pinned recipe can't be unpinned, only pinned to another version.`}
        action={`Pin version ${version.number}`}
        isHarmless
        onConfirm={() =>
          bind.mutate({
            projectId: alias.projectId,
            environment: alias.environment,
            alias_name: alias.alias,
            versionId: version.versionId,
          })
        }
        className="h-9"
        pending={bind.isPending}
        disabled={isPinned}
      />
    </div>
  );
}
