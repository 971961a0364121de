"use client";
import { SearchX } from "lucide-react";
import type { ReactNode } from "react";
import { Button } from "@/components/ui/button";
import { Card } from "@/components/ui/card";
import { EmptyState } from "@/components/ui/empty-state";
import Link from "@/components/ui/link";
import { EndOfList, Pagination } from "@/components/ui/pagination";
import type { PagePosition } from "@/components/ui/paging";
import { FilterBar, type FilterField } from "./filter-bar";
import { ResourceTable, type TableProps } from "./resource-table";

type CardProps<State> = {
  /** The plural name of the items, such as "jobs". */
  noun: string;
  header?: ReactNode;
  page: { items: readonly unknown[]; nextCursor?: string | null | undefined };
  state: State;
  hrefOf(state: State): string;
  /** The URL of the list without filters. */
  allHref?: string;
  isFiltered?: boolean;
  /** Shown while the list is empty and unfiltered. */
  first: ReactNode;
  /** Content beside the links to other pages. */
  foot?: ReactNode;
  /** The labels of the links to newer and older items. */
  back?: string;
  on?: string;
  /** The rows. */
  children: ReactNode;
};

/** A cursor-paginated list in its card: its rows, or the reason why there are none, and links to its other pages. */
export function ListCard<State extends PagePosition>({
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
        ) : page.nextCursor ? (
          <EmptyState icon={SearchX} title={`No matching ${noun} so far`}>
            Older {noun} may match: go on to the next page.
          </EmptyState>
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

/** A cursor-paginated list as a table, with its filters above it. */
export function ListTable<Row, State extends PagePosition>({
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
