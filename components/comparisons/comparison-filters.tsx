"use client";
import { X } from "lucide-react";
import { CapabilitySelect } from "@/components/catalog/capability-select";
import { Button } from "@/components/ui/button";
import { cn } from "@/components/ui/class-names";
import { Select, SelectContent, SelectItem, SelectTrigger } from "@/components/ui/select";
import { useAddress } from "@/components/ui/use-address";
import { ComparisonStatus } from "@/server/contract/comparisons";
import { comparisonsHref, hasFilter, type ListState, withFilter } from "./list-state";
import { STATUS_LOOK } from "./words";

const ANY = "any"; // a select cannot hold an empty value

/** Filters of the comparison list. They live in the URL, so a view can be bookmarked and shared. */
export function ComparisonFilters({
  projectId,
  state,
  capabilities,
}: {
  projectId: string;
  state: ListState;
  capabilities: string[];
}) {
  const address = useAddress(state, (next) => comparisonsHref(projectId, next));
  const { wanted, isPending } = address;
  const show = (change: Partial<ListState>) => address.show(withFilter(wanted, change));
  const pick = (name: "status" | "judged") => (value: string) =>
    show({ [name]: value === ANY ? undefined : value });
  return (
    <search
      aria-label="Filter comparisons"
      aria-busy={isPending}
      className={cn("flex flex-wrap items-center gap-2 transition-opacity", isPending && "opacity-60")}
    >
      <Select value={wanted.status ?? ANY} onValueChange={pick("status")}>
        <SelectTrigger aria-label="Status" className="h-8 w-auto min-w-32 flex-1 text-sm sm:flex-none" />
        <SelectContent>
          <SelectItem value={ANY}>Any status</SelectItem>
          {ComparisonStatus.options.map((status) => (
            <SelectItem key={status} value={status}>
              {STATUS_LOOK[status].label}
            </SelectItem>
          ))}
        </SelectContent>
      </Select>
      <Select value={wanted.judged ?? ANY} onValueChange={pick("judged")}>
        <SelectTrigger aria-label="Decision" className="h-8 w-auto min-w-32 flex-1 text-sm sm:flex-none" />
        <SelectContent>
          <SelectItem value={ANY}>Any decision</SelectItem>
          <SelectItem value="no">Not judged</SelectItem>
          <SelectItem value="yes">Judged</SelectItem>
        </SelectContent>
      </Select>
      <CapabilitySelect
        value={wanted.capability}
        capabilities={capabilities}
        onChange={(capability) => show({ capability })}
      />
      {hasFilter(wanted) && (
        <Button
          variant="ghost"
          onClick={() => show({ status: undefined, capability: undefined, judged: undefined })}
        >
          <X aria-hidden />
          Clear
        </Button>
      )}
    </search>
  );
}
