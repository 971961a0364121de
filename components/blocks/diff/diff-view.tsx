"use client";
import { type ReactNode, useState } from "react";
import { Button } from "@/components/ui/button";
import { cn } from "@/components/ui/class-names";
import { type DiffLine, type DiffRow, folded, type Stretch, unified } from "./diff-lines";

/** More rows would make the page slow; each click shows as many more. */
const MOST_ROWS = 400;

type Props = {
  rows: DiffRow[];
  isProse: boolean;
  caption: string;
  /** Visible names of both columns, for texts of which neither is older. */
  sides?: [string, string];
};

/** A comparison: side by side if there is room, in one column on a phone. Unchanged stretches are folded. */
export function DiffView({ rows, isProse, caption, sides }: Props) {
  const [shown, setShown] = useState(MOST_ROWS);
  const [open, setOpen] = useState<ReadonlySet<number>>(new Set());
  const stretches = folded(rows.slice(0, shown));
  const view = stretches.map((stretch, at) => ({
    ...stretch,
    isFolded: stretch.kind === "folded" && !open.has(at),
    unfold: () => setOpen((known) => new Set([...known, at])),
  }));
  const left = rows.length - shown;
  const said = sides ? between(sides) : CHANGED;
  return (
    <div
      className={cn(
        "overflow-hidden rounded-md border border-line text-sm",
        !isProse && "font-mono text-xs leading-5",
      )}
    >
      <table className="hidden w-full table-fixed border-collapse md:table">
        <caption className="sr-only">{caption}</caption>
        <thead className={cn(!sides && "sr-only")}>
          <tr>
            {(sides ?? ["Before", "After"]).map((side) => (
              <th
                key={side}
                scope="col"
                className="border-b border-line px-2 py-1.5 text-left text-xs font-semibold not-first:border-l"
              >
                {side}
              </th>
            ))}
          </tr>
        </thead>
        {view.map((stretch, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: stretches follow from the rows and never move
          <tbody key={at}>
            {stretch.isFolded ? (
              <tr>
                <td colSpan={2} className="p-0">
                  <Unfold {...stretch} />
                </td>
              </tr>
            ) : (
              stretch.rows.map((row) => (
                <tr key={`${row.older?.number} ${row.newer?.number}`}>
                  <Side line={row.older} sign={row.kind === "same" ? " " : "-"} said={said} />
                  <Side line={row.newer} sign={row.kind === "same" ? " " : "+"} said={said} />
                </tr>
              ))
            )}
          </tbody>
        ))}
      </table>
      <div className="md:hidden">
        {sides && (
          <p aria-hidden className="border-b border-line px-2 py-1.5 text-xs font-semibold">
            − {sides[0]}, + {sides[1]}
          </p>
        )}
        {view.map((stretch, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: stretches follow from the rows and never move
          <div key={at}>
            {stretch.isFolded ? (
              <Unfold {...stretch} />
            ) : (
              unified(stretch.rows).map(({ sign, line }) => (
                <div key={`${sign} ${line.number}`} className={cn("px-2 py-0.5", LOOK[sign])}>
                  <LineText line={line} sign={sign} said={said} />
                </div>
              ))
            )}
          </div>
        ))}
      </div>
      {left > 0 && (
        <div className="border-t border-line p-2 text-center font-sans">
          <Button size="sm" onClick={() => setShown(shown + MOST_ROWS)}>
            Show more ({left.toLocaleString("en-US")} lines left)
          </Button>
        </div>
      )}
    </div>
  );
}

function Unfold({ rows, unfold }: Stretch & { unfold: () => void }): ReactNode {
  return (
    <button
      type="button"
      onClick={unfold}
      className="w-full border-y border-line bg-sunken px-2 py-1 text-left font-sans text-xs text-muted hover:bg-hover hover:text-text"
    >
      Show {rows.length} unchanged lines
    </button>
  );
}

type Sign = " " | "-" | "+";
const LOOK: Record<Sign, string> = { " ": "", "-": "bg-bad-soft", "+": "bg-good-soft" };
/** The meaning of each sign, for screen readers. */
type Said = Record<Sign, string>;
const CHANGED: Said = { " ": "", "-": "Removed: ", "+": "Added: " };
const between = ([left, right]: [string, string]): Said => ({
  " ": "",
  "-": `Only in ${left}: `,
  "+": `Only in ${right}: `,
});

function Side({ line, sign, said }: { line: DiffLine | null; sign: Sign; said: Said }) {
  if (!line) return <td className="bg-sunken align-top" />;
  return (
    <td className={cn("px-2 py-0.5 align-top not-first:border-l not-first:border-line", LOOK[sign])}>
      <LineText line={line} sign={sign} said={said} />
    </td>
  );
}

/** One line with its sign. Changed words are marked, and announced to screen readers. */
function LineText({ line, sign, said }: { line: DiffLine; sign: Sign; said: Said }) {
  const Mark = sign === "-" ? "del" : "ins";
  return (
    <div className="grid grid-cols-[1rem_minmax(0,1fr)]">
      <span aria-hidden className="font-mono text-muted select-none">
        {sign === "-" ? "−" : sign}
      </span>
      <span className="whitespace-pre-wrap [overflow-wrap:anywhere]">
        <span className="sr-only">{said[sign]}</span>
        {line.pieces.map(({ text, isChanged }, at) =>
          isChanged ? (
            <Mark
              // biome-ignore lint/suspicious/noArrayIndexKey: the pieces of a line never move
              key={at}
              className={cn(
                "rounded-xs font-semibold underline decoration-2 underline-offset-2",
                sign === "-" ? "bg-bad-line/60 text-text" : "bg-good-line/60 text-text",
              )}
            >
              {text}
            </Mark>
          ) : (
            text
          ),
        )}
      </span>
    </div>
  );
}
