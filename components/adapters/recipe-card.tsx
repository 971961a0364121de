"use client";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { toast } from "sonner";
import { Ago } from "@/components/time/moment";
import { useTRPC } from "@/components/trpc";
import { Confirm } from "@/components/ui/alert-dialog";
import { Button } from "@/components/ui/button";
import { Card, CardBody, CardHeader } from "@/components/ui/card";
import { Label } from "@/components/ui/label";
import { Select, SelectContent, SelectItem, SelectTrigger } from "@/components/ui/select";
import { useMutation } from "@/components/use-mutation";
import type { AliasShown, AliasStep } from "@/server/contract/adapters";

/** The version that the project's recipe is pinned to, and the form that pins it. */
export function RecipeCard({
  alias,
  versions,
  mayWrite,
}: {
  alias: AliasShown;
  versions: AliasStep[];
  mayWrite: boolean;
}) {
  const { binding, current } = alias;
  const choosable = versions.filter(({ isAdapterDeleted }) => !isAdapterDeleted);
  return (
    <Card aria-labelledby="recipe-title">
      <CardHeader title="Recipe" id="recipe-title" hint="The version this project uses by default" />
      <CardBody className="space-y-3 text-sm">
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
            requests that name no adapter use the latest promoted version. Pin a version to keep using it
            until you pin another.
          </p>
        )}
        <p className="text-xs text-muted">A request that names the alias always uses its current version.</p>
        {mayWrite && choosable.length > 0 && <Pin alias={alias} versions={choosable} />}
        {!mayWrite && (
          <p className="text-xs text-muted">
            Members of your organization can pin a version. Your role here is viewer.
          </p>
        )}
      </CardBody>
    </Card>
  );
}

function Pin({ alias, versions }: { alias: AliasShown; versions: AliasStep[] }) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const first = versions.find(({ number }) => number === alias.current.number) ?? versions[0];
  const [chosen, setChosen] = useState(first?.versionId ?? "");
  const version = versions.find(({ versionId }) => versionId === chosen) ?? first;
  const bind = useMutation(
    trpc.adapters.bind.mutationOptions({
      onSuccess: ({ number }) => toast.success(`Recipe pinned to version ${number}`),
      onSettled: () => queryClient.invalidateQueries({ queryKey: trpc.adapters.pathKey() }),
    }),
  );
  if (!version) return null;
  const isPinned = alias.binding?.versionId === version.versionId;
  return (
    <div className="flex flex-wrap items-end gap-2">
      <div className="grid min-w-0 flex-1 basis-48 gap-1.5">
        <Label htmlFor="pin-version">Version</Label>
        <Select value={version.versionId} onValueChange={setChosen}>
          <SelectTrigger id="pin-version" />
          <SelectContent>
            {versions.map(({ versionId, number, adapter }) => (
              <SelectItem key={versionId} value={versionId}>
                {number}: {adapter.displayName}
                {number === alias.current.number && " (current)"}
              </SelectItem>
            ))}
          </SelectContent>
        </Select>
      </div>
      <Confirm
        title={`Pin the recipe to version ${version.number}?`}
        description={`Where “${alias.alias}” is the default, requests that name no adapter use ${version.adapter.displayName}, even after another version is promoted. A pinned recipe can't be unpinned, only pinned to another version.`}
        action={`Pin version ${version.number}`}
        actionVariant="primary"
        onConfirm={() =>
          bind.mutate({
            projectId: alias.projectId,
            environment: alias.environment,
            alias_name: alias.alias,
            versionId: version.versionId,
          })
        }
      >
        <Button className="h-9" pending={bind.isPending} disabled={isPinned}>
          {isPinned ? "Pinned" : "Pin version"}
        </Button>
      </Confirm>
    </div>
  );
}
