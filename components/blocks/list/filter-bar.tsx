"use client";
import { Search, X } from "lucide-react";
import { Button } from "@/components/ui/button";
import { cn } from "@/components/ui/class-names";
import { Input } from "@/components/ui/input";
import { type Option, Select } from "@/components/ui/select";
import { useAddress } from "@/components/ui/use-address";
import { withFilter } from "./list-state";

export type FilterField<Name extends string = string> = { name: Name; label: string; className?: string } & (
  | { any: string; options: readonly Option[] }
  | { longest: number }
);

/** Options that are their own labels. */
export const toOptions = (values: readonly string[]): Option[] =>
  values.map((value) => ({ value, label: value }));

const ANY = "any"; // a select cannot hold an empty value

/** Filters of a list. They live in the URL, so that a filtered view can be bookmarked and shared. */
export function FilterBar<State extends Record<string, string | undefined>>({
  label,
  fields,
  state,
  hrefOf,
  className,
}: {
  label: string;
  /** Text fields and choices. A value of the URL that is not an option is added as one. */
  fields: readonly FilterField<keyof State & string>[];
  state: State;
  hrefOf(state: State): string;
  className?: string;
}) {
  const { wanted, isPending, show } = useAddress(state, hrefOf);
  const set = (change: Record<string, string | undefined>) =>
    show(withFilter<State>(wanted, change as Partial<State>)); // the bar's fields have the state's names
  return (
    <search
      aria-label={label}
      aria-busy={isPending}
      className={cn(
        "flex min-w-0 flex-wrap items-center gap-2 transition-opacity",
        isPending && "opacity-60",
        className,
      )}
    >
      {fields.map((field) => {
        const { name } = field;
        const value = wanted[name];
        if ("longest" in field) {
          const { label, longest, className } = field;
          return (
            <form
              key={name}
              className={cn("relative", className ?? "min-w-32 flex-1 sm:max-w-44")}
              onSubmit={(event) => {
                event.preventDefault();
                const text = String(new FormData(event.currentTarget).get(name)).trim();
                set({ [name]: text || undefined });
              }}
            >
              <Search
                aria-hidden
                className="pointer-events-none absolute top-1/2 left-2.5 size-4 -translate-y-1/2 text-muted"
              />
              <Input
                key={state[name]}
                name={name}
                type="search"
                aria-label={label}
                placeholder={label}
                defaultValue={state[name]}
                maxLength={longest}
                autoComplete="off"
                className="h-8 pl-8 text-sm"
              />
            </form>
          );
        }
        const { label, any, className } = field;
        const isOffered = !value || field.options.some((option) => option.value === value);
        const options = isOffered ? field.options : [...field.options, { value, label: value }];
        return (
          <Select
            key={name}
            aria-label={label}
            className={cn("h-8 w-auto min-w-32 flex-1 text-sm sm:max-w-56 sm:flex-none", className)}
            value={value ?? ANY}
            options={[{ value: ANY, label: any }, ...options]}
            onValueChange={(next) => set({ [name]: next === ANY ? undefined : next })}
          />
        );
      })}
      {fields.some(({ name }) => wanted[name]) && (
        <Button
          variant="ghost"
          onClick={() => set(Object.fromEntries(fields.map(({ name }) => [name, undefined])))}
        >
          <X aria-hidden />
          Clear
        </Button>
      )}
    </search>
  );
}
