"use client";
import { createContext, type ReactNode, startTransition, useContext, useState } from "react";
import { Button } from "@/components/ui/button";
import { type Mode, modeCookie } from "./mode-cookie";

const WORDS: Record<Mode, string> = { test: "Test", live: "Live" };

/** The choices of this visit. A page frame that was rendered before a choice starts with that choice when it is restored. */
const chosen = new Map<string, Mode>();

type State = { mode: Mode; choose(mode: Mode): void };
const ModeContext = createContext<State>({ mode: "live", choose: () => {} });

/** Provides whether a project's pages show live or test money. A choice is remembered per project. */
export function ModeProvider({
  projectId,
  initial,
  children,
}: {
  projectId: string;
  initial: Mode;
  children: ReactNode;
}) {
  const [mode, setMode] = useState(() => chosen.get(projectId) ?? initial);
  function choose(next: Mode) {
    chosen.set(projectId, next);
    // biome-ignore lint/suspicious/noDocumentCookie: the Cookie Store API is missing in plain-http pages
    document.cookie = `${modeCookie(projectId)}=${next}; path=/; max-age=31536000; samesite=lax`;
    startTransition(() => setMode(next));
  }
  return <ModeContext value={{ mode, choose }}>{children}</ModeContext>;
}

/** True if the project's pages show test money instead of live money. */
export const useIsTest = (): boolean => useContext(ModeContext).mode === "test";

/** The switch between test and live money, in the header of the pages that follow it. */
export function ModeSwitch() {
  const { mode, choose } = useContext(ModeContext);
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset would make a form's group of two buttons
    <div
      role="group"
      aria-label="Mode"
      className="inline-flex items-center gap-0.5 rounded-md bg-sunken p-0.5 ring-1 ring-line ring-inset"
    >
      {(["test", "live"] as const).map((each) => (
        <button
          key={each}
          type="button"
          aria-pressed={mode === each}
          onClick={() => choose(each)}
          className="h-6 rounded-[5px] px-2.5 text-xs font-medium text-muted transition-colors hover:text-text aria-pressed:text-text aria-pressed:shadow-card aria-pressed:bg-raised aria-pressed:data-[mode=live]:ring-1 aria-pressed:data-[mode=live]:ring-line aria-pressed:data-[mode=test]:bg-warn-soft aria-pressed:data-[mode=test]:text-warn aria-pressed:data-[mode=test]:ring-1 aria-pressed:data-[mode=test]:ring-warn-line max-sm:h-9"
          data-mode={each}
        >
          {WORDS[each]}
        </button>
      ))}
    </div>
  );
}

/** A link to the other mode if it has items, too; otherwise renders nothing. */
export function OtherMode({ has, children }: { has: boolean; children: (mode: string) => string }) {
  const { mode, choose } = useContext(ModeContext);
  if (!has) return null;
  const other = mode === "test" ? "live" : "test";
  return (
    <p className="mb-4 text-sm text-muted">
      {children(WORDS[other])}{" "}
      <Button variant="link" size="link" onClick={() => choose(other)}>
        Show {WORDS[other]}
      </Button>
    </p>
  );
}
