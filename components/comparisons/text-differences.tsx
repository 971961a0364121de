"use client";
import { useMemo } from "react";
import { diffLines } from "@/components/blocks/diff/diff-lines";
import { DiffView } from "@/components/blocks/diff/diff-view";
import { usePair } from "./pair";

/** Compares two of the texts line by line, and similar changed lines word by word. */
export default function TextDifferences({ texts }: { texts: { id: string; name: string; text: string }[] }) {
  const pair = usePair(texts);
  const [older, newer] = [pair?.left.text ?? null, pair?.right.text ?? null];
  const rows = useMemo(() => diffLines(older, newer), [older, newer]);
  if (!pair) return null;
  const { left, right, choice } = pair;
  return (
    <div className="space-y-3">
      {choice}
      {older === newer ? (
        <p className="text-sm text-muted">
          {left.name} and {right.name} are identical.
        </p>
      ) : (
        <DiffView
          key={`${left.id} ${right.id}`}
          rows={rows}
          isProse
          caption={`${left.name} compared with ${right.name}`}
          sides={[left.name, right.name]}
        />
      )}
    </div>
  );
}
