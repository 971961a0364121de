"use client";
import { type ReactNode, useState } from "react";
import { Choice } from "@/components/ui/choice";

type Named = { id: string; name: string };

/** Two of several items, with selects when there are more than two; null when there are fewer than two. */
export function usePair<Item extends Named>(
  items: Item[],
): { left: Item; right: Item; choice: ReactNode } | null {
  const [chosen, choose] = useState<{ left?: string; right?: string }>({});
  const left = items.find(({ id }) => id === chosen.left) ?? items[0];
  const others = items.filter((item) => item !== left);
  const right = others.find(({ id }) => id === chosen.right) ?? others[0];
  if (!left || !right) return null;
  const named = (of: Item[]) => of.map(({ id, name }): [string, string] => [id, name]);
  const choice = items.length > 2 && (
    <div className="grid max-w-md grid-cols-2 gap-3">
      <Choice
        label="Left"
        value={left.id}
        options={named(items)}
        onChange={(id) => choose({ left: id, right: id === right.id ? left.id : right.id })}
      />
      <Choice
        label="Right"
        value={right.id}
        options={named(others)}
        onChange={(id) => choose({ left: left.id, right: id })}
      />
    </div>
  );
  return { left, right, choice };
}
