"use client";
import { SearchX } from "lucide-react";
import type { ReactNode } from "react";
import { Button } from "@/components/ui/button";
import { Card } from "@/components/ui/card";
import { EmptyState } from "@/components/ui/empty-state";
import Link from "@/components/ui/link";
import { EndOfList, Pagination } from "@/components/ui/pagination";
import type { Place } from "@/components/ui/paging";
import { FilterBar, type FilterField } from "./filter-bar";
import { ResourceTable, type TableProps } from "./resource-table";

type CardProps<State> = {
  /** What it lists: "jobs". */
  noun: string;
  header?: ReactNode;
  page: { items: readonly unknown[]; nextCursor?: string | null | undefined };
  state: State;
  hrefOf(state: State): string;
  /** The list without filters. */
  allHref?: string;
  isFiltered?: boolean;
  /** Shown while there is nothing to list. */
  first: ReactNode;
  /** Beside the links to other pages. */
  foot?: ReactNode;
  /** The names of the two directions. */
  back?: string;
  on?: string;
  /** The rows. */
  children: ReactNode;
};

/** A list by cursor in its card: its rows, or why there are none, and the way to its other pages. */
export function ListCard<State extends Place>({
  noun,
  header,
  page,
  state,
  hrefOf,
  allHref,
  isFiltered,
  first,
  foot,
  children,
  ...directions
}: CardProps<State>) {
  return (
    <>
      <Card className="overflow-hidden">
        {header}
        {page.items.length > 0 ? (
          children
        ) : state.cursor ? (
          <EndOfList />
        ) : isFiltered ? (
          <EmptyState
            icon={SearchX}
            title={`No matching ${noun}`}
            action={
              allHref && (
                <Button asChild>
                  <Link href={allHref}>Show all {noun}</Link>
                </Button>
              )
            }
          >
            Remove a filter or show all {noun}.
          </EmptyState>
        ) : (
          first
        )}
      </Card>
      <div className="mt-4 flex flex-wrap items-center justify-between gap-3 empty:hidden">
        {foot}
        <Pagination
          label={`Pages of ${noun}`}
          state={state}
          nextCursor={page.nextCursor}
          hrefOf={hrefOf}
          className="ml-auto"
          {...directions}
        />
      </div>
    </>
  );
}

/** A list by cursor as a table, with its filters above it. */
export function ListTable<Row, State extends Place>({
  filters,
  ...list
}: Omit<CardProps<State>, "page" | "children"> &
  Omit<TableProps<Row>, "rows"> & {
    page: { items: readonly Row[]; nextCursor?: string | null | undefined };
    filters?: readonly FilterField<keyof State & string>[] | false;
  }) {
  const { noun, state, hrefOf, page } = list;
  return (
    <>
      {filters && (
        <FilterBar label={`Filter ${noun}`} className="mb-4" state={state} hrefOf={hrefOf} fields={filters} />
      )}
      <ListCard {...list}>
        <ResourceTable {...list} rows={page.items} />
      </ListCard>
    </>
  );
}
