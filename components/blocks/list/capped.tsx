"use client";
import { type ReactNode, useState } from "react";
import { Button } from "@/components/ui/button";

const MOST = 25;

/** The first rows of a long list, and a way to see all. */
export function Capped<Row>({
  rows,
  children,
}: {
  rows: readonly Row[];
  children(rows: readonly Row[]): ReactNode;
}) {
  const [isWhole, setWhole] = useState(false);
  const isCut = rows.length > MOST && !isWhole;
  return (
    <>
      {children(isCut ? rows.slice(0, MOST) : rows)}
      {isCut && (
        <div className="border-t border-line-soft p-2 text-center">
          <Button size="sm" variant="ghost" onClick={() => setWhole(true)}>
            Show all {rows.length.toLocaleString("en-US")}
          </Button>
        </div>
      )}
    </>
  );
}
