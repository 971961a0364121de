"use client";
import { type Ref, useCallback } from "react";

/*
 * Text typed into the page before React starts. React replaces such a field's content with the server's value, and its
 * component never sees the change. So the field reports its text again once React has hydrated it.
 */

type Field = HTMLInputElement | HTMLTextAreaElement;
type Typed = { value: string; caret: [start: number | null, end: number | null] };

const typed = new WeakMap<Field, Typed>();
const started = new WeakSet<Field>();

function note(field: Field): void {
  if (started.has(field)) return;
  if (field.value === field.defaultValue) typed.delete(field);
  else typed.set(field, { value: field.value, caret: [field.selectionStart, field.selectionEnd] });
}

const isField = (target: unknown): target is Field =>
  target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement;

// This module runs before React starts: text typed until now is in the fields, the rest arrives as events.
if (typeof document !== "undefined") {
  for (const field of document.querySelectorAll<Field>("input, textarea")) note(field);
  document.addEventListener("input", ({ target }) => isField(target) && note(target), { capture: true });
  document.addEventListener("selectionchange", ({ target }) => {
    // React moves the caret too, when it replaces the text.
    if (isField(target) && typed.get(target)?.value === target.value) note(target);
  });
}

function report(field: Field, { value, caret }: Typed): void {
  // React reports a value that differs from the last one it knows: its own setter on the field records the server's
  // value, and the prototype's setter below bypasses it.
  field.value = field.defaultValue;
  Object.getOwnPropertyDescriptor(Object.getPrototypeOf(field), "value")?.set?.call(field, value);
  field.dispatchEvent(new Event("input", { bubbles: true }));
  if (field === document.activeElement && caret[0] !== null) field.setSelectionRange(...caret);
}

/** The ref of a text field that keeps text typed before React started. `ref` is the caller's own. */
export function useTypedEarly<Element extends Field>(ref: Ref<Element> | undefined) {
  return useCallback(
    (field: Element | null) => {
      const early = field && typed.get(field);
      if (field) started.add(field);
      if (field && early) {
        typed.delete(field);
        queueMicrotask(() => report(field, early)); // React ignores changes reported while it commits
      }
      if (typeof ref === "function") return ref(field);
      if (ref) ref.current = field;
    },
    [ref],
  );
}
