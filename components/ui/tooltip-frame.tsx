"use client";
import { Tooltip as Primitive } from "radix-ui";
import type { ReactNode } from "react";

/** What `tooltip` loads when the reader comes near: the explanation of the whole of its parent. */
export function TooltipFrame({ children }: { children: ReactNode }) {
  return (
    <Primitive.Provider>
      <Primitive.Root open>
        <Primitive.Trigger asChild>
          <span className="pointer-events-none absolute inset-0" />
        </Primitive.Trigger>
        <Primitive.Portal>
          <Primitive.Content
            sideOffset={5}
            collisionPadding={8}
            className="pop-in z-50 max-w-72 rounded-md bg-text px-2 py-1 text-xs text-canvas shadow-raised"
          >
            {children}
          </Primitive.Content>
        </Primitive.Portal>
      </Primitive.Root>
    </Primitive.Provider>
  );
}
