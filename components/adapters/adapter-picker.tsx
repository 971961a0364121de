"use client";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useDeferredValue, useState } from "react";
import { useTRPC } from "@/components/data/trpc";
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

/** Picks an adapter of an environment from the results of a search. */
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
        <div
          role="radiogroup"
          aria-label="Matching adapters"
          className="max-h-56 divide-y divide-line overflow-y-auto rounded-md border border-line"
        >
          {data.items.map((adapter) => (
            <label
              key={adapter.adapterId}
              className="flex flex-wrap items-center gap-x-2 gap-y-1 px-3 py-2 text-sm hover:bg-hover has-checked:bg-busy-soft"
            >
              <input
                type="radio"
                name="adapter"
                checked={adapter.adapterId === chosen?.adapterId}
                onChange={() => onChoose(adapter)}
                className="size-4 accent-primary"
              />
              <span className="min-w-0 flex-1 truncate font-medium">{adapter.displayName}</span>
              <FrozenBadge frozen={adapter.frozen} />
              {adapter.sourceHealth.status !== "healthy" && <HealthBadge health={adapter.sourceHealth} />}
              <span className="w-full truncate pl-6 text-xs text-muted">{sourceWords(adapter.source)}</span>
            </label>
          ))}
        </div>
      )}
      {data?.nextCursor && (
        <p className="text-xs text-muted">
          Showing the newest {MOST}. Type more of the name to narrow the list.
        </p>
      )}
    </div>
  );
}
