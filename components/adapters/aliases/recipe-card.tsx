"use client";
import { useState } from "react";
import { useAction } from "@/components/blocks/data/use-action";
import { ConfirmAction } from "@/components/blocks/feedback/confirm-action";
import { Ago } from "@/components/time/moment";
import { useTRPC } from "@/components/trpc";
import { Section } from "@/components/ui/card";
import { Choice } from "@/components/ui/choice";
import type { AliasShown, AliasStep } from "@/server/contract/adapters";

/** The version that the project's recipe is pinned to, and the form that pins it. */
export function RecipeCard({
  alias,
  versions,
  whyNot,
}: {
  alias: AliasShown;
  versions: AliasStep[];
  /** Why the reader may not pin a version; null where they may. */
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
