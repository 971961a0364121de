"use client";
import { useRouter } from "next/navigation";
import { type ReactNode, useTransition } from "react";
import { useProject } from "@/components/blocks/data/use-project";
import { toOptions } from "@/components/blocks/list/filter-bar";
import { PageHeader } from "@/components/shell/page-header";
import { LinkChoice } from "@/components/ui/link-choice";
import { Select } from "@/components/ui/select";
import { ownKeys } from "@/server/contract/own-keys";
import { adaptersHref, aliasesHref, defaultsHref } from "./list-state";

const ROOMS = {
  adapters: {
    title: "Adapters",
    about: "Small weight files (LoRA) that teach an image model a style, person or object.",
    href: (projectId: string, environment: string) => adaptersHref(projectId, { environment }),
  },
  aliases: {
    title: "Aliases",
    about: "Stable names that point to an adapter version.",
    href: (projectId: string, environment: string) => aliasesHref(projectId, { environment }),
  },
  defaults: {
    title: "Defaults",
    about: "The alias used when a request names no adapter.",
    href: defaultsHref,
  },
};
type Room = keyof typeof ROOMS;

type Props = { projectId: string; room: Room; environment: string; actions?: ReactNode };

/** The header of each adapter page: its title, links to the other adapter pages, and the environment. */
export function RoomHeader({ projectId, room, environment, actions }: Props) {
  return (
    <>
      <PageHeader title={ROOMS[room].title} actions={actions}>
        {ROOMS[room].about}
      </PageHeader>
      <div className="mb-4 flex flex-wrap items-center gap-x-4 gap-y-2">
        <LinkChoice
          label="Adapter sections"
          options={ownKeys(ROOMS).map((each) => ({
            name: ROOMS[each].title,
            href: ROOMS[each].href(projectId, environment),
            current: each === room,
          }))}
        />
        <EnvironmentChoice
          projectId={projectId}
          environment={environment}
          hrefOf={(other) => ROOMS[room].href(projectId, other)}
        />
      </div>
    </>
  );
}

type EnvironmentChoiceProps = { projectId: string; environment: string; hrefOf(environment: string): string };

/** Chooses the environment, since adapters belong to one. Renders nothing when the project has only one. */
export function EnvironmentChoice({ projectId, environment, hrefOf }: EnvironmentChoiceProps) {
  const router = useRouter();
  const [isPending, startTransition] = useTransition();
  const environments = useProject(projectId).project?.environments ?? [];
  if (environments.length < 2) return null;
  return (
    <Select
      aria-label="Environment"
      aria-busy={isPending}
      className="h-8 w-auto min-w-36 text-sm sm:ml-auto"
      value={environment}
      options={toOptions(environments)}
      onValueChange={(value) => startTransition(() => router.push(hrefOf(value), { scroll: false }))}
    />
  );
}
