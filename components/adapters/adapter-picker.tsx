"use client";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { RadioGroup } from "radix-ui";
import { useDeferredValue, useState } from "react";
import { useTRPC } from "@/components/trpc";
import { Field } from "@/components/ui/field";
import { Input } from "@/components/ui/input";
import { Skeleton } from "@/components/ui/skeleton";
import type { ModelAdapter } from "@/server/contract/adapters";
import { FrozenBadge, HealthBadge, sourceWords } from "./words";

const MOST = 20;

type Props = {
  projectId: string;
  environment: string;
  chosen: ModelAdapter | null;
  onChoose(adapter: ModelAdapter): void;
};

/** Picks an adapter of an environment by part of its name. */
export function AdapterPicker({ projectId, environment, chosen, onChoose }: Props) {
  const trpc = useTRPC();
  const [text, setText] = useState("");
  const q = useDeferredValue(text);
  const { data, error } = useQuery({
    ...trpc.adapters.list.queryOptions({ projectId, environment, q, limit: MOST }),
    placeholderData: keepPreviousData,
  });
  return (
    <div className="space-y-2">
      <Field id="picker-search" label="Adapter">
        {(aria) => (
          <Input
            {...aria}
            type="search"
            value={text}
            autoComplete="off"
            placeholder="Search by name"
            maxLength={200}
            onChange={({ target }) => setText(target.value)}
          />
        )}
      </Field>
      {error && (
        <p role="alert" className="text-sm text-bad">
          Adapters could not be loaded. Reload the page to try again.
        </p>
      )}
      {!data && !error && <Skeleton className="h-24" />}
      {data && data.items.length === 0 && (
        <p className="text-sm text-muted">
          {text === "" ? `No adapters in ${environment} yet.` : "No adapters match."}
        </p>
      )}
      {data && data.items.length > 0 && (
        <RadioGroup.Root
          aria-label="Matching adapters"
          value={chosen?.adapterId ?? ""}
          onValueChange={(adapterId) => {
            const found = data.items.find((each) => each.adapterId === adapterId);
            if (found) onChoose(found);
          }}
          className="max-h-56 divide-y divide-line overflow-y-auto rounded-md border border-line"
        >
          {data.items.map((adapter) => (
            <RadioGroup.Item
              key={adapter.adapterId}
              value={adapter.adapterId}
              className="flex w-full flex-wrap items-center gap-x-2 gap-y-1 px-3 py-2 text-left text-sm -outline-offset-2 hover:bg-hover data-[state=checked]:bg-busy-soft"
            >
              <span
                aria-hidden
                className="grid size-4 shrink-0 place-items-center rounded-full border border-line-strong bg-surface"
              >
                <RadioGroup.Indicator className="size-2 rounded-full bg-primary" />
              </span>
              <span className="min-w-0 flex-1 truncate font-medium">{adapter.displayName}</span>
              <FrozenBadge frozen={adapter.frozen} />
              {adapter.sourceHealth.status !== "healthy" && <HealthBadge health={adapter.sourceHealth} />}
              <span className="w-full truncate pl-6 text-xs text-muted">{sourceWords(adapter.source)}</span>
            </RadioGroup.Item>
          ))}
        </RadioGroup.Root>
      )}
      {data?.nextCursor && (
        <p className="text-xs text-muted">
          Showing the newest {MOST}. Type more of the name to narrow the list.
        </p>
      )}
    </div>
  );
}
