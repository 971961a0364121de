/* biome-ignore-all lint/a11y/noRedundantRoles: shown as cards, the elements of a table lose their roles */
"use client";
import type { ReactNode } from "react";
import { Checkbox } from "@/components/ui/checkbox";
import { cn } from "@/components/ui/class-names";
import { shortId } from "@/components/ui/copyable-id";
import Link from "@/components/ui/link";

export type TableColumn<Row> = {
  header: string;
  /** Distinguishes columns that share a header. */
  id?: string;
  cell(row: Row): ReactNode;
  /** Right-aligned, for numbers and times. */
  align?: "end";
  /**
   * The column's place on a narrow screen, where a row becomes a card: title and amount (or status) on the first line, then
   * the others, a "fact" after its header, and the status last.
   */
  card?: "title" | "amount" | "status" | "fact" | "hidden";
  className?: string;
};

/** Rows that the reader selects, for bulk actions. */
export type Selection<Row> = {
  chosen: ReadonlySet<string>;
  choose(ids: string[], isChosen: boolean): void;
  nameOf(row: Row): string;
};

const CARD = {
  title:
    "@max-2xl:order-[-3] @max-2xl:w-auto @max-2xl:flex-1 @max-2xl:basis-1/2 @max-2xl:max-w-none @max-2xl:text-sm",
  amount: "@max-2xl:order-[-2] @max-2xl:ml-auto @max-2xl:text-right! @max-2xl:text-sm",
  status: "@max-2xl:order-[-2] @max-2xl:ml-auto",
  last: "@max-2xl:order-1 @max-2xl:ml-auto",
  fact: "@max-2xl:before:text-muted @max-2xl:before:content-[attr(data-header)':_']",
  hidden: "@max-2xl:hidden",
  rest: "",
};
const CELL =
  "h-11 min-w-0 px-3 py-1.5 text-left align-middle font-normal first:pl-4 last:pr-4 @max-2xl:h-auto @max-2xl:p-0! @max-2xl:text-left! @max-2xl:text-xs @max-2xl:empty:hidden";
const ROW =
  "@max-2xl:flex @max-2xl:flex-wrap @max-2xl:items-center @max-2xl:gap-x-3 @max-2xl:gap-y-0.5 @max-2xl:px-4 @max-2xl:py-2.5 @max-2xl:before:order-[-1] @max-2xl:before:basis-full";

/** A longer header may wrap. */
const LONG = 20;

export type TableProps<Row> = {
  /** The accessible name of the table, such as "API keys, newest first". */
  label: string;
  rows: readonly Row[];
  idOf(row: Row): string;
  columns: readonly TableColumn<Row>[];
  /** Attributes by which tests find a row. */
  marks?(row: Row): Record<`data-${string}`, string>;
  actions?: ((row: Row) => ReactNode) | undefined;
  selection?: Selection<Row> | undefined;
  /** The last row, with a cell for each column. */
  totals?: readonly ReactNode[];
  /** True for a table of a few short columns, which never becomes cards. */
  isSmall?: boolean;
};

/** Items of one kind as a table, and as cards of the same elements if the table does not fit. */
export function ResourceTable<Row>({
  label,
  rows,
  idOf,
  columns,
  marks,
  actions,
  selection,
  totals,
  isSmall = false,
}: TableProps<Row>) {
  const ids = rows.map(idOf);
  const hasAmount = columns.some(({ card }) => card === "amount");
  const cell = (column: TableColumn<Row>, content: ReactNode) => {
    const isTitle = column.card === "title";
    const As = isTitle ? "th" : "td";
    return (
      <As
        key={column.id ?? column.header}
        role={isTitle ? "rowheader" : "cell"}
        scope={isTitle ? "row" : undefined}
        data-header={column.card === "fact" ? column.header : undefined}
        className={cn(
          CELL,
          column.align && "text-right",
          column.className,
          CARD[column.card === "status" && hasAmount ? "last" : (column.card ?? "rest")],
        )}
      >
        {content}
      </As>
    );
  };
  return (
    // The frame is focusable if nothing inside is, so that it can be scrolled by keyboard.
    <div
      {...(actions || selection ? {} : { role: "group", "aria-label": label, tabIndex: 0 })}
      className={cn("relative w-full overflow-x-auto", !isSmall && "@container")}
    >
      <table
        role="table"
        aria-label={label}
        className="w-full border-collapse text-left text-sm tabular-nums @max-2xl:block"
      >
        <thead role="rowgroup" className="@max-2xl:sr-only">
          <tr role="row">
            {selection && (
              <Head className="w-8">
                <Checkbox
                  aria-label="Select all records on this page"
                  checked={ids.length > 0 && ids.every((id) => selection.chosen.has(id))}
                  onCheckedChange={(checked) => selection.choose(ids, checked === true)}
                />
              </Head>
            )}
            {columns.map(({ id, header, align }) => (
              <Head
                key={id ?? header}
                className={cn(
                  align && "text-right",
                  header.length > LONG ? "min-w-24 [overflow-wrap:anywhere]" : "whitespace-nowrap",
                )}
              >
                {header}
              </Head>
            ))}
            {actions && (
              <Head>
                <span className="sr-only">Actions</span>
              </Head>
            )}
          </tr>
        </thead>
        <tbody role="rowgroup" className="@max-2xl:block">
          {rows.map((row) => (
            <tr
              role="row"
              key={idOf(row)}
              {...marks?.(row)}
              className={cn("group relative border-b border-line-soft last:border-0 hover:bg-hover/60", ROW)}
            >
              {selection && (
                <td role="cell" className={cn(CELL, "@max-2xl:order-[-4]")}>
                  <Checkbox
                    aria-label={`Select ${selection.nameOf(row)}`}
                    className="relative z-10" // above the link that covers the row
                    checked={selection.chosen.has(idOf(row))}
                    onCheckedChange={(checked) => selection.choose([idOf(row)], checked === true)}
                  />
                </td>
              )}
              {columns.map((column) => cell(column, column.cell(row)))}
              {actions && (
                <td role="cell" className={cn(CELL, "text-right @max-2xl:order-2 @max-2xl:ml-auto")}>
                  {actions(row)}
                </td>
              )}
            </tr>
          ))}
        </tbody>
        {totals && (
          <tfoot role="rowgroup" className="border-t border-line font-medium @max-2xl:block">
            <tr role="row" className={ROW}>
              {columns.map((column, at) => cell(column, totals[at]))}
            </tr>
          </tfoot>
        )}
      </table>
    </div>
  );
}

const Head = ({ className, children }: { className?: string; children: ReactNode }) => (
  <th
    role="columnheader"
    scope="col"
    className={cn(
      "h-8 border-b border-line-soft px-3 py-1 text-xs font-medium text-faint first:pl-4 last:pr-4",
      className,
    )}
  >
    {children}
  </th>
);

/** The link of a row, by id or name. It covers the whole row. */
export function RowLink({ href, id, children }: { href: string; id: string; children?: ReactNode }) {
  return (
    <Link
      href={href}
      title={id}
      dir={children ? "auto" : undefined}
      className={cn(
        "rounded after:absolute after:inset-0 hover:underline",
        children ? "block truncate font-medium" : "font-mono text-xs whitespace-nowrap text-link",
      )}
    >
      {children ?? shortId(id)}
    </Link>
  );
}

/** The first cell of a row: its name, and below it in a quiet line the facts that distinguish it. */
export const Titled = ({ title, children }: { title: ReactNode; children: ReactNode }) => (
  <span className="block min-w-0">
    <span dir="auto" className="block truncate font-medium">
      {title}
    </span>
    <span className="flex min-w-0 items-baseline gap-x-2 overflow-hidden text-xs text-muted [&>*:first-child]:truncate [&>*+*]:shrink-0">
      {children}
    </span>
  </span>
);
