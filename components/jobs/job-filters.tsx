"use client";
import { Search, X } from "lucide-react";
import { CapabilitySelect } from "@/components/catalog/capability-select";
import { Button } from "@/components/ui/button";
import { cn } from "@/components/ui/class-names";
import { Input } from "@/components/ui/input";
import { Select, SelectContent, SelectItem, SelectTrigger } from "@/components/ui/select";
import { useAddress } from "@/components/ui/use-address";
import { JobStatus } from "@/server/contract/jobs";
import { STATUS_LOOK } from "./job-status";
import { hasFilter, type ListState, listHref, withFilter } from "./list-state";

const ANY = "any"; // a select cannot hold an empty value

/** Filters of the history. They live in the URL, so a filtered view can be bookmarked and shared. */
export function JobFilters({
  projectId,
  state,
  capabilities,
}: {
  projectId: string;
  state: ListState;
  /** The capability keys to choose from. */
  capabilities: string[];
}) {
  const address = useAddress(state, (next) => listHref(projectId, next));
  const { wanted, isPending } = address;
  const show = (change: Partial<ListState>) => address.show(withFilter(wanted, change));
  const pick = (name: "status" | "outcome") => (value: string) =>
    show({ [name]: value === ANY ? undefined : value });

  return (
    <search
      aria-label="Filter jobs"
      aria-busy={isPending}
      className={cn("flex flex-wrap items-center gap-2 transition-opacity", isPending && "opacity-60")}
    >
      <Select value={wanted.status ?? ANY} onValueChange={pick("status")}>
        <SelectTrigger aria-label="Status" className="h-8 w-auto min-w-32 flex-1 text-sm sm:flex-none" />
        <SelectContent>
          <SelectItem value={ANY}>Any status</SelectItem>
          {JobStatus.options.map((status) => (
            <SelectItem key={status} value={status}>
              {STATUS_LOOK[status].label}
            </SelectItem>
          ))}
        </SelectContent>
      </Select>
      <Select value={wanted.outcome ?? ANY} onValueChange={pick("outcome")}>
        <SelectTrigger aria-label="Outcome" className="h-8 w-auto min-w-32 flex-1 text-sm sm:flex-none" />
        <SelectContent>
          <SelectItem value={ANY}>Any outcome</SelectItem>
          <SelectItem value="failed">Failed</SelectItem>
          <SelectItem value="reusable">With reusable output</SelectItem>
        </SelectContent>
      </Select>
      <CapabilitySelect
        value={wanted.capability}
        capabilities={capabilities}
        onChange={(capability) => show({ capability })}
      />
      <form
        className="relative w-full sm:w-44"
        onSubmit={(event) => {
          event.preventDefault();
          const tag = new FormData(event.currentTarget).get("tag");
          show({ tag: typeof tag === "string" && tag.trim() ? tag.trim() : undefined });
        }}
      >
        <Search aria-hidden className="pointer-events-none absolute top-2 left-2.5 size-4 text-muted" />
        <Input
          key={state.tag}
          name="tag"
          aria-label="Tag"
          placeholder="Tag"
          defaultValue={state.tag}
          maxLength={256}
          autoComplete="off"
          className="h-8 pl-8 text-sm"
        />
      </form>
      {hasFilter(wanted) && (
        <Button
          variant="ghost"
          onClick={() =>
            show({ status: undefined, capability: undefined, outcome: undefined, tag: undefined })
          }
        >
          <X aria-hidden />
          Clear
        </Button>
      )}
    </search>
  );
}
