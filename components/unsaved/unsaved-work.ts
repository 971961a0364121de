"use client";
import { useEffect, useSyncExternalStore } from "react";

/* Tracks unsaved input. While there is any, leaving the page asks first, and an ended session does not navigate away. */

type Question = { kind: "leave" | "discard"; go: () => void } | { kind: "signIn" };
/** Signed out: the session has ended, and the input is kept until the reader signs in again. */
type Standing = { question: Question | null; isSignedOut: boolean };

const marks = new Set<symbol>();
const listeners = new Set<() => void>();
const CALM: Standing = { question: null, isSignedOut: false };
let standing = CALM;

function update(change: Partial<Standing>): void {
  standing = { ...standing, ...change };
  for (const listener of listeners) listener();
}

/** Asks before leaving the page while this is true. */
export function useUnsaved(isUnsaved: boolean): void {
  useEffect(() => {
    if (!isUnsaved) return;
    const mark = Symbol("unsaved");
    marks.add(mark);
    return () => {
      marks.delete(mark);
    };
  }, [isUnsaved]);
}

export const isAnythingUnsaved = (): boolean => marks.size > 0;

/** Navigates to a page that discards the input: immediately, or after the reader confirms. */
export function leaveUnsaved(go: () => void): void {
  if (isAnythingUnsaved()) update({ question: { kind: "leave", go } });
  else go();
}

/** Closes a form that was typed into, after the reader confirms. */
export const discardTyped = (go: () => void): void => update({ question: { kind: "discard", go } });

/**
 * Asks the reader to sign in again in another tab if this page has unsaved input; returns false if it has none. Asks once,
 * and again whenever they try to submit something (`isAct`).
 */
export function signInBeside({ isAct }: { isAct: boolean }): boolean {
  if (!isAnythingUnsaved()) return false;
  if (isAct || !standing.isSignedOut) update({ question: { kind: "signIn" }, isSignedOut: true });
  return true;
}

export const dropQuestion = (): void => update({ question: null });
export const signedInAgain = (): void => update(CALM);

/** The reader discards the input. */
export function giveUp(): void {
  marks.clear();
  update(CALM);
}

export function useStanding(): Standing {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => standing,
    () => CALM,
  );
}
