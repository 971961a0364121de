"use client";
import { useEffect, useSyncExternalStore } from "react";

/*
 * What was typed and is nowhere else yet. While there is any, nobody leaves the page without being asked, and a session that
 * has ended takes nobody away from it.
 */

type Question = { kind: "leave"; go: () => void } | { kind: "signIn" };
/** Signed out: the session has ended, and what was typed waits for another one. */
type Standing = { question: Question | null; isSignedOut: boolean };

const marks = new Set<symbol>();
const listeners = new Set<() => void>();
const CALM: Standing = { question: null, isSignedOut: false };
let standing = CALM;

function stand(change: Partial<Standing>): void {
  standing = { ...standing, ...change };
  for (const listener of listeners) listener();
}

/** Keeps the page from being left unasked for as long as this is true. */
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

/** Goes where nothing that was typed is kept: at once, or after the reader said so. */
export function leaveUnsaved(go: () => void): void {
  if (isAnythingUnsaved()) stand({ question: { kind: "leave", go } });
  else go();
}

/**
 * Has the reader sign in again beside the page, where something on it would be lost; false: nothing would. They are told
 * once, and anew whenever they try to send something (`isAct`).
 */
export function signInBeside({ isAct }: { isAct: boolean }): boolean {
  if (!isAnythingUnsaved()) return false;
  if (isAct || !standing.isSignedOut) stand({ question: { kind: "signIn" }, isSignedOut: true });
  return true;
}

export const dropQuestion = (): void => stand({ question: null });
export const signedInAgain = (): void => stand(CALM);

/** The reader gives up what was typed. */
export function giveUp(): void {
  marks.clear();
  stand(CALM);
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
