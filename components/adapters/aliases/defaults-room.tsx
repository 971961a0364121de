"use client";
import { useSuspenseQuery } from "@tanstack/react-query";
import { useState } from "react";
import { adapterHref, aliasesHref, aliasHref, environmentOf } from "@/components/adapters/list-state";
import { RoomHeader } from "@/components/adapters/room-header";
import { useAction } from "@/components/blocks/data/use-action";
import { useProject } from "@/components/blocks/data/use-project";
import { useTRPC } from "@/components/data/trpc";
import { Ago } from "@/components/time/moment";
import { Button } from "@/components/ui/button";
import { Section } from "@/components/ui/card";
import { Choice } from "@/components/ui/choice";
import Link from "@/components/ui/link";
import { Notice } from "@/components/ui/notice";
import type { AdapterDefault, AliasShown } from "@/server/contract/adapters";

const MOST_ALIASES = 200;
type Default = AdapterDefault & { title: string };

type Props = { projectId: string; environment: string | undefined };

/** The alias that each capability uses when a request names no adapter. */
export function DefaultsRoom({ projectId, environment: asked }: Props) {
  const trpc = useTRPC();
  const place = { projectId, environment: asked };
  const { data: defaults } = useSuspenseQuery(trpc.adapters.defaults.queryOptions(place));
  const { data: aliases } = useSuspenseQuery(
    trpc.adapters.aliases.queryOptions({ ...place, limit: MOST_ALIASES }),
  );
  const { may, whyNot } = useProject(projectId);
  const mayWrite = may("member");
  const environment = environmentOf({ environment: asked });
  return (
    <>
      <RoomHeader projectId={projectId} room="defaults" environment={environment} />
      <div className="grid gap-4">
        {defaults.map((each) => (
          <DefaultCard
            key={`${each.capabilityKey} ${each.alias} ${environment}`}
            projectId={projectId}
            environment={environment}
            chosen={each}
            aliases={aliases.items}
            mayWrite={mayWrite}
          />
        ))}
      </div>
      <p className="mt-4 text-sm text-muted">
        A request with <code>"adapters": []</code> uses no adapter, whatever the default. Changes don't affect
        requests that were already accepted.
        {!mayWrite && ` ${whyNot("member", "change defaults")}`}
      </p>
    </>
  );
}

type DefaultCardProps = {
  projectId: string;
  environment: string;
  chosen: Default;
  aliases: AliasShown[];
  mayWrite: boolean;
};

function DefaultCard({ projectId, environment, chosen, aliases, mayWrite }: DefaultCardProps) {
  const id = `default-${chosen.capabilityKey}`;
  const standing = aliases.find(({ alias }) => alias === chosen.alias);
  return (
    <Section
      id={id}
      title={chosen.title}
      hint={<code>{chosen.capabilityKey}</code>}
      bodyClassName="space-y-4 text-sm"
    >
      {chosen.alias === null ? (
        <p>No default. Requests that name no adapter run without one.</p>
      ) : (
        <p>
          Requests that name no adapter use{" "}
          <Link
            href={aliasHref(projectId, chosen.alias, { environment })}
            className="font-medium text-link underline"
          >
            {chosen.alias}
          </Link>
          {standing && <Meaning projectId={projectId} alias={standing} />}
          {chosen.setAt && (
            <span className="text-muted">
              {" "}
              Set <Ago at={chosen.setAt} />.
            </span>
          )}
        </p>
      )}
      {standing && !standing.binding && !standing.adapter.frozen && (
        <Notice tone="bad">
          This adapter is catalog-only, so requests that name no adapter are refused. Set another default.
        </Notice>
      )}
      {mayWrite && (
        <Change projectId={projectId} environment={environment} chosen={chosen} aliases={aliases} />
      )}
    </Section>
  );
}

/** The version that the alias resolves to as a default. */
function Meaning({
  projectId,
  alias: { current, adapter, binding },
}: {
  projectId: string;
  alias: AliasShown;
}) {
  if (binding && binding.number !== current.number)
    return <>, pinned to version {binding.number} by the recipe.</>;
  return (
    <>
      , version {current.number}:{" "}
      <Link href={adapterHref(projectId, adapter.adapterId)} className="text-link underline">
        {adapter.displayName}
      </Link>
      .
    </>
  );
}

type ChangeProps = { projectId: string; environment: string; chosen: Default; aliases: AliasShown[] };

function Change({ projectId, environment, chosen, aliases }: ChangeProps) {
  const trpc = useTRPC();
  const [alias, setAlias] = useState(chosen.alias ?? "");
  const refresh = [trpc.adapters.pathKey()];
  const set = useAction(trpc.adapters.setDefault.mutationOptions(), { refresh, done: "Default set" });
  const clear = useAction(trpc.adapters.clearDefault.mutationOptions(), { refresh, done: "Default cleared" });
  const asked = { projectId, environment, capability_key: chosen.capabilityKey };
  if (aliases.length === 0)
    return (
      <p className="text-muted">
        A default must be an alias.{" "}
        <Link href={aliasesHref(projectId, { environment })} className="text-link underline">
          Create an alias
        </Link>
        .
      </p>
    );
  return (
    <div className="flex flex-wrap items-end gap-2">
      <div className="min-w-0 flex-1 basis-48 sm:max-w-80">
        <Choice
          label="Alias"
          value={alias}
          placeholder="Choose an alias"
          options={aliases.map((each) => [each.alias, `${each.alias}: ${each.adapter.displayName}`])}
          onChange={setAlias}
        />
      </div>
      <Button
        variant="primary"
        className="h-9"
        pending={set.isPending}
        disabled={alias === "" || alias === chosen.alias}
        onClick={() => set.mutate({ ...asked, alias })}
      >
        Set default
      </Button>
      {chosen.alias !== null && (
        <Button className="h-9" pending={clear.isPending} onClick={() => clear.mutate(asked)}>
          Clear
        </Button>
      )}
    </div>
  );
}
