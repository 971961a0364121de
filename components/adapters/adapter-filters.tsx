"use client";
import { Search, X } from "lucide-react";
import { Button } from "@/components/ui/button";
import { cn } from "@/components/ui/class-names";
import { Input } from "@/components/ui/input";
import { Select, SelectContent, SelectItem, SelectTrigger } from "@/components/ui/select";
import { useAddress } from "@/components/ui/use-address";
import { SourceHealthStatus } from "@/server/contract/adapters";
import { adaptersHref, hasFilter, type ListState, withFilter } from "./list-state";
import { type Family, HEALTH_LOOK } from "./words";

const ANY = "any"; // a select cannot hold an empty value

/** Search and filters of the adapter list. They live in the URL, so a view can be bookmarked and shared. */
export function AdapterFilters({
  projectId,
  state,
  families,
}: {
  projectId: string;
  state: ListState;
  families: readonly Family[];
}) {
  const { wanted, isPending, ...address } = useAddress(state, (next) => adaptersHref(projectId, next));
  const show = (change: Partial<ListState>) => address.show(withFilter(wanted, change));
  const pick = (name: "family" | "health") => (value: string) =>
    show({ [name]: value === ANY ? undefined : value });
  const isStrange = wanted.family && !families.some(({ name }) => name === wanted.family);
  return (
    <search
      aria-label="Find adapters"
      aria-busy={isPending}
      className={cn("mb-4 flex flex-wrap items-center gap-2 transition-opacity", isPending && "opacity-60")}
    >
      <form
        className="relative min-w-0 flex-1 basis-60 max-sm:basis-full"
        onSubmit={(event) => {
          event.preventDefault();
          const q = new FormData(event.currentTarget).get("q");
          show({ q: typeof q === "string" && q.trim() ? q.trim() : undefined });
        }}
      >
        <Search aria-hidden className="pointer-events-none absolute top-2 left-2.5 size-4 text-muted" />
        <Input
          key={state.q}
          name="q"
          type="search"
          aria-label="Name, alias, trigger word or source"
          placeholder="Name, alias, trigger word or source"
          defaultValue={state.q}
          maxLength={200}
          autoComplete="off"
          className="h-8 pl-8 text-sm"
        />
      </form>
      <Select value={wanted.family ?? ANY} onValueChange={pick("family")}>
        <SelectTrigger aria-label="Base model" className="h-8 w-auto min-w-40 flex-1 text-sm sm:flex-none" />
        <SelectContent>
          <SelectItem value={ANY}>Any base model</SelectItem>
          {isStrange && <SelectItem value={wanted.family ?? ANY}>{wanted.family}</SelectItem>}
          {families.map(({ name, title }) => (
            <SelectItem key={name} value={name}>
              {title}
            </SelectItem>
          ))}
        </SelectContent>
      </Select>
      <Select value={wanted.health ?? ANY} onValueChange={pick("health")}>
        <SelectTrigger aria-label="Health" className="h-8 w-auto min-w-32 flex-1 text-sm sm:flex-none" />
        <SelectContent>
          <SelectItem value={ANY}>Any health</SelectItem>
          {SourceHealthStatus.options.map((each) => (
            <SelectItem key={each} value={each}>
              {HEALTH_LOOK[each].label}
            </SelectItem>
          ))}
        </SelectContent>
      </Select>
      {hasFilter(wanted) && (
        <Button variant="ghost" onClick={() => show({ q: undefined, family: undefined, health: undefined })}>
          <X aria-hidden />
          Clear
        </Button>
      )}
    </search>
  );
}
